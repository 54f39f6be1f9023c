// What: the kernel's process calls by name (docs/internals/guest-abi.md, 0x400), and a child's start as the kernel reads it.
// Next: stdio.js, what a child's descriptors are; bindings/process_wrap.js and bindings/spawn_sync.js, which start children.
'use strict';

const NUMBERS = {
  spawn: 0x400,
  wait: 0x401,
  kill: 0x402,
  getppid: 0x403,
  listen: 0x404,
  nextSignal: 0x405,
  watch: 0x408,
  waitForWatched: 0x409,
  reap: 0x40a,
};

const { sys, sysWait } = native;

const DETACHED = 1;
const INHERIT = 1;
const WORDS_BEFORE_STDIO = 4;

// `fds`: for each descriptor of the child one of this process, or -1 for none. The child's number, or a negative errno.
function spawn({ file, args, cwd, env, fds, detached }) {
  const words = new Uint32Array(WORDS_BEFORE_STDIO + 2 * fds.length);
  words.set([detached ? DETACHED : 0, args.length, env.length, fds.length]);
  for (let i = 0; i < fds.length; i++) {
    if (fds[i] < 0) continue;
    words[WORDS_BEFORE_STDIO + 2 * i] = INHERIT;
    words[WORDS_BEFORE_STDIO + 2 * i + 1] = fds[i];
  }
  return sys(NUMBERS.spawn, words, `${[file, cwd ?? '', ...args, ...env].join('\0')}\0`);
}

// The exit code and the signal of a wait status; one of them is 0.
const exitCodeOf = (status) => status >> 8;
const signalOf = (status) => status & 0x7f;

module.exports = { NUMBERS, spawn, exitCodeOf, signalOf, sys, sysWait };
