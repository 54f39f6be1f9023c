// What: THE list of what must be fresh when a saved process lives again, as the same one or as one of many clones. As refresh.js, this is a
// security contract: two clones never agree on a random number that either draws after the restore.
//
// | state | how it is made fresh |
// |---|---|
// | `Math.random()` | the shim reseeds the generator of every realm, before anything else of the guest runs |
// | `crypto.randomUUID()`, `randomUUIDv7()`, `randomInt()` | Node keeps random bytes for these: all that is kept is drawn anew (crypto/random-kept.js) |
// | `crypto.randomBytes()`, `getRandomValues()`, keys, `mkdtemp` names | read from the host at each call, and jobs under way draw when they complete: nothing is kept |
// | `Date` | the wall clock is read at each call: it steps |
// | `process.pid`, `ppid` | those that the host says; the number is the same unless the host chose another |
// | `process.env` | what the host sets or removes is set or removed, before listeners hear of it |
// | the rest of the world | `process.emit('coldframe:restore', { asleepMs })`: the program can react |
//
// Not fresh, on purpose. The monotonic clocks (`hrtime`, `performance.now()`, timers, `eventLoopUtilization()`) go on where they stood when the
// memory was saved, so timers keep their remaining time and `performance.timeOrigin` stays; `asleepMs` says what they leave out. The seed of
// the engine's hash tables is the image's own, the same in every process: it orders buckets, is seen by nobody and is no secret.
// Not fresh, and cannot be made so from here: what a program drew before the save and keeps (a pool of random bytes in a package of its own).
// The `Date` header of http is Node's cache: up to a second of the process's time old.
// Next: entry.js registers `restore` as the shim's hook; the C half of the list stands in shim/process.c.
'use strict';

const context = require('../context.js');
const { drawAnew } = require('../crypto/random-kept.js');

const EVENT = 'coldframe:restore';

// `changes`: `KEY=value`, or `KEY` to remove it.
function restore(asleepMs, changes, hasOtherPid) {
  drawAnew();
  const { process } = context;
  if (hasOtherPid) renewPid(process);
  for (const change of changes) changeEnvironment(native.env(), change);
  if (isHeard(process)) process.emit(EVENT, { asleepMs });
}

// Whoever has looked at `process.pid` has made a value of it (refresh.js).
function renewPid(process) {
  if (!Object.getOwnPropertyDescriptor(process, 'pid')?.configurable) return;
  native.defineLazyProperty(process, 'pid', () => native.pid());
}

function changeEnvironment(env, change) {
  const at = change.indexOf('=');
  if (at < 0) delete env[change];
  else env[change.slice(0, at)] = change.slice(at + 1);
}

// Packages that patch `process.emit` see the event too.
function isHeard(process) {
  return process.emit !== context.requireBuiltin('events').prototype.emit || process._events?.[EVENT] !== undefined;
}

module.exports = { restore };
