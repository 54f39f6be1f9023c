// The kernel's process calls, and the layout in which the kernel reads the start of a child. Next:
// ../internal-bindings/process_wrap.js and ../internal-bindings/spawn_sync.js, which start
// children.
'use strict';

const { processes: NUMBERS } = require('../generated/system-calls.js');

const { sys, sysWait } = native;

const DETACHED = 1;
const HAS_UID = 0x10;
const HAS_GID = 0x20;
const INHERIT = 1;
const WORDS_BEFORE_STDIO = 4;

// Starts a child. `fds` has a descriptor of this process, or -1, for each descriptor of the child.
// Without `uid` and `gid`, the child has the ids of this process. Returns the child's pid, or a
// negative error number.
function spawn({ file, args, cwd, env, fds, detached, uid, gid }) {
  const ids = [uid, gid].filter((id) => id !== undefined);
  const stdio = WORDS_BEFORE_STDIO + ids.length;
  const words = new Uint32Array(stdio + 2 * fds.length);
  const flags = (detached ? DETACHED : 0) | (uid === undefined ? 0 : HAS_UID) | (gid === undefined ? 0 : HAS_GID);
  words.set([flags, args.length, env.length, fds.length, ...ids]);
  for (let i = 0; i < fds.length; i++) {
    if (fds[i] < 0) continue;
    words[stdio + 2 * i] = INHERIT;
    words[stdio + 2 * i + 1] = fds[i];
  }
  return sys(NUMBERS.spawn, words, `${[file, cwd ?? '', ...args, ...env].join('\0')}\0`);
}

// The exit code and the signal of a wait status. At least one of the two is 0.
const exitCodeOf = (status) => status >> 8;
const signalOf = (status) => status & 0x7f;

module.exports = { NUMBERS, spawn, exitCodeOf, signalOf, sys, sysWait };
