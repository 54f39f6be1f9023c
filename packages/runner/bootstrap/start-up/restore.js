// The complete list of the state that must be fresh when a process is restored from a snapshot,
// once or as one of many clones. Like refresh.js, the list is a security contract: two clones never
// draw equal random numbers after the restore.
//
// - `Math.random()`: the shim reseeds the generator of every realm before other code of the guest
//   runs.
// - `crypto.randomUUID()`, `randomUUIDv7()`, `randomInt()`: Node keeps random bytes for these
//   functions; all of them are drawn again (../crypto/random-kept.js).
// - `crypto.randomBytes()`, `getRandomValues()`, keys, `mkdtemp` names: read from the kernel at
//   each call. Pending jobs draw when they complete. Nothing is kept.
// - `Date`: the wall clock is read at each call, so the time jumps forward after a restore.
// - `process.pid`, `ppid`: the kernel's numbers; the pid is unchanged unless the embedder chose
//   another pid.
// - `process.env`: the embedder's changes are applied before listeners are notified.
// - All other state: `process.emit('coldframe:restore', { asleepMs })` lets the program
//   react, after the program has received the errors of the connections that the restore has reset.
//
// Deliberately not fresh: the monotonic clocks (`hrtime`, `performance.now()`, timers,
// `eventLoopUtilization()`). These clocks continue from the time of the snapshot, so timers keep
// their remaining time and `performance.timeOrigin` stays. `asleepMs` is the time that the clocks
// omit. The seed of the engine's hash tables is the image's own, equal in every process. The seed
// only orders buckets. No program can read the seed, and the seed is no secret.
//
// Not fresh, and not reachable by this file: random bytes that a program drew before the snapshot
// and keeps, such as a package's own pool. The `Date` header of http is Node's cache, up to a
// second of the process's time old. Next: event-loop/hooks.js, which registers `restore` as the
// shim's hook; shim/process.c has the C half of the list.
'use strict';

const context = require('../context.js');
const { drawAnew } = require('../crypto/random-kept.js');

const EVENT = 'coldframe:restore';

// The time of the last restore that was not reported to the program.
let unreportedMs;

// Applies a restore. `changes` has `KEY=value` to set a variable, or `KEY` to remove the variable.
function restore(asleepMs, changes, hasOtherPid) {
  drawAnew();
  unreportedMs = asleepMs;
  const { process } = context;
  if (hasOtherPid) renewPid(process);
  for (const change of changes) changeEnvironment(native.env(), change);
}

// Notifies the program of the restore. The operations that the restore has ended are complete, and
// no timer has run.
function restored() {
  const { process } = context;
  if (hasListener(process)) process.emit(EVENT, { asleepMs: unreportedMs });
}

// Updates `process.pid`, which is a plain value if the program has read the property (refresh.js).
function renewPid(process) {
  if (!Object.getOwnPropertyDescriptor(process, 'pid')?.configurable) return;
  native.defineLazyProperty(process, 'pid', () => native.pid());
}

function changeEnvironment(env, change) {
  const at = change.indexOf('=');
  if (at < 0) delete env[change];
  else env[change.slice(0, at)] = change.slice(at + 1);
}

// Returns whether a listener exists. A package that patches `process.emit` receives every event.
function hasListener(process) {
  return process.emit !== context.requireBuiltin('events').prototype.emit || process._events?.[EVENT] !== undefined;
}

module.exports = { restore, restored };
