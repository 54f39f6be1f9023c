// What: signals that a process sends to itself: its listeners hear of them, or the default action ends it, as on Linux.
// Why only to itself: no other process can be seen from here.
// Next: bindings/signal_wrap.js, which listens; bindings/process_methods.js, which has `_kill`.
'use strict';

const EINVAL = -22;
const ESRCH = -3;
const EPERM = -1;

const LAST = 64;
const SIGKILL = 9;
const SIGSTOP = 19;
// SIGCHLD, SIGCONT, SIGURG, SIGWINCH: nothing happens to a process that does not listen.
const IGNORED = new Set([17, 18, 23, 28]);
// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU: nobody could wake it.
const STOPPING = new Set([19, 20, 21, 22]);
// What a shell reports for a process that a signal ended.
const EXIT_CODE_BASE = 128;

/** Signal number → handles that listen. */
const listeners = new Map();

function listen(signal, handle) {
  if (!Number.isInteger(signal) || signal < 1 || signal > LAST || signal === SIGKILL || signal === SIGSTOP) return EINVAL;
  if (!listeners.has(signal)) listeners.set(signal, new Set());
  listeners.get(signal).add(handle);
  return 0;
}

function forget(signal, handle) {
  listeners.get(signal)?.delete(handle);
}

function send(pid, signal) {
  if (signal < 0 || signal > LAST) return EINVAL;
  const own = native.pid();
  // 0 and -own are the group of this process, which is all of it.
  if (pid !== own && pid !== 0 && pid !== -own) return ESRCH;
  if (signal === 0) return 0;
  const heard = listeners.get(signal);
  if (heard !== undefined && heard.size > 0) {
    for (const handle of heard) native.enqueueTask(() => handle.deliver(signal));
    return 0;
  }
  if (IGNORED.has(signal)) return 0;
  if (STOPPING.has(signal)) return EPERM;
  native.exit(EXIT_CODE_BASE + signal);
  return 0;
}

module.exports = { listen, forget, send };
