// Checks the options of a child from Node's library and converts them to the kernel's form
// (process_wrap.cc, ParseOptions; libuv's uv_spawn). The options are arguments, environment, user,
// and for each descriptor of the child a descriptor of this process. Next: calls.js.
'use strict';

const context = require('../context.js');
const { pair, sys, NUMBERS } = require('../net/calls.js');
const { spawn } = require('./calls.js');

/**
 * Starts a child. `stdio` is Node's list. `ends` receives this process's end of each pipe, by
 * index. If no child starts, the other ends are closed. Returns the child's pid, or a negative
 * errno.
 */
function start({ file, args, cwd, env, stdio, detached, uid, gid }, ends) {
  const fds = [];
  const given = [];
  let result = 0;
  for (let i = 0; i < stdio.length && result === 0; i++) {
    const fd = isPipe(stdio[i]) ? makePipe(i, ends, given) : descriptorOf(stdio[i]);
    if (fd < NONE) result = fd;
    fds.push(fd);
  }
  if (result === 0)
    result = spawn({
      file,
      args: args ?? [file],
      cwd,
      env: env ?? ownEnvironment(),
      fds,
      detached,
      uid: uid ?? undefined,
      gid: gid ?? undefined,
    });
  for (const fd of given) sys(NUMBERS.close, fd, 0);
  return result;
}

const NONE = -1;
const EBADF = -9;
const isPipe = ({ type }) => type === 'pipe' || type === 'overlapped';

function makePipe(index, ends, given) {
  const made = pair();
  if (typeof made === 'number') return made;
  ends[index] = made[0];
  given.push(made[1]);
  return made[1];
}

function descriptorOf({ type, fd, handle }) {
  if (type === 'ignore') return NONE;
  const number = type === 'wrap' ? handle.fd : fd;
  return number >= 0 ? number : EBADF;
}

const ownEnvironment = () => Object.entries(context.process.env).map(([key, value]) => `${key}=${value}`);

module.exports = { start };
