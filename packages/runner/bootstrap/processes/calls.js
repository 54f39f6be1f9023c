// The kernel's process calls, and the layout in which the kernel reads the start of a child. Next:
// ../internal-bindings/process_wrap.js and ../internal-bindings/spawn_sync.js, which start
// children.
'use strict';

const { processes: NUMBERS } = require('../generated/system-calls.js');

const { sys, sysWait } = native;

const DETACHED = 1;
const GROUP = 2;
const FOREGROUND = 4;
const CONTROLLING = 8;
const HAS_UID = 0x10;
const HAS_GID = 0x20;
const INHERIT = 1;
const WORDS_BEFORE_STDIO = 4;

// Starts a child. `fds` has a descriptor of this process, or -1, for each descriptor of the child.
// `group` is the child's process group, and 0 is a new group. If `foreground` is set, the child's
// group becomes the foreground group of this process's terminal. If `controlling` is set,
// descriptor 0 becomes the controlling terminal of a detached child. Without `uid` and `gid`, the
// child has the ids of this process. Returns the child's pid, or a negative error number.
function spawn({ file, args, cwd, env, fds, detached, group, foreground, controlling, uid, gid }) {
  const ids = [uid, gid].filter((id) => id !== undefined);
  const hasGroup = group !== undefined;
  const stdio = WORDS_BEFORE_STDIO + ids.length;
  const words = new Uint32Array(stdio + 2 * fds.length + (hasGroup ? 1 : 0));
  const flags =
    (detached ? DETACHED : 0) |
    (hasGroup ? GROUP : 0) |
    (foreground ? FOREGROUND : 0) |
    (controlling ? CONTROLLING : 0) |
    (uid === undefined ? 0 : HAS_UID) |
    (gid === undefined ? 0 : HAS_GID);
  words.set([flags, args.length, env.length, fds.length, ...ids]);
  if (hasGroup) words[words.length - 1] = group;
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

// The changes that complete `waitChange` beside the end of the child.
const STOPS = 1;
const CONTINUATIONS = 2;
const STOPPED = 0x7f;
const CONTINUED = 0xffff;

// Starts an operation that completes with the next change of a child. Returns the operation's
// number, or a negative errno.
const waitChange = (pid, flags) => sys(NUMBERS.waitChange, pid, flags);
// Returns the signal that stopped a child, or 0 for another status.
const stopSignalOf = (status) => (status !== CONTINUED && (status & 0xff) === STOPPED ? status >> 8 : 0);
const isContinued = (status) => status === CONTINUED;

const setsid = () => sys(NUMBERS.setsid);
const getsid = (pid) => sys(NUMBERS.getsid, pid);
const setpgid = (pid, group) => sys(NUMBERS.setpgid, pid, group);
const getpgid = (pid) => sys(NUMBERS.getpgid, pid);

/** The actions of the call `listen`. */
const ACTIONS = { default: 0, listen: 1, ignore: 2 };
const setAction = (signal, action) => sys(NUMBERS.listen, signal, action);

module.exports = {
  ACTIONS,
  CONTINUATIONS,
  NUMBERS,
  STOPS,
  exitCodeOf,
  getpgid,
  getsid,
  isContinued,
  setAction,
  setpgid,
  setsid,
  signalOf,
  spawn,
  stopSignalOf,
  sys,
  sysWait,
  waitChange,
};
