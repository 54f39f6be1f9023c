// The complete list of the state that must be fresh when a process starts from the image. The list
// is a security contract. Unlisted state that has facts of the build machine, or that two processes
// share, is a leak.
//
// - `process.env`: one exotic object of the shim, which reads the start block's table. Nothing of
//   the build's environment exists in that object.
// - `process.argv`, `process.argv0`: lazy; the array is made from the start block at the first
//   access.
// - `process.pid`: lazy, from the start block.
// - `process.ppid`: read from the kernel at each access.
// - `process.cwd()`, and Node's cache of the directory: `prepare` below empties the cache in the
//   image; the first call reads the start block.
// - `process.execArgv`, `node`'s options: empty, unless the start block has some;
//   ../program/options.js then makes the process's own values.
// - `process.execPath`, `process.title`: constants, equal for every process, with no fact of a real
//   machine.
// - `package.json` files that were read: none in the image.
// - `process.exitCode`, `_exiting`, tick, timer and immediate counters: typed arrays over the
//   shim's memory, zeroed by the shim at START.
// - `process.hrtime()`, `performance.now()`, `Date`: read from the kernel at each call.
// - `performance.timeOrigin`, `performance.nodeTiming`: the milestones array covers the shim's
//   memory, which the shim writes at START.
// - `performance.eventLoopUtilization()`, `nodeTiming.loopStart`: counted in the process; `prepare`
//   below resets the counts of the image's build.
// - The clock of timers (`getLibuvNow`): counts from START, in the shim.
// - `Math.random()`: the shim reseeds the engine's generator from the kernel at START.
// - `crypto.randomBytes()`, `randomUUID()`, `getRandomValues()`: read from the kernel at each call;
//   Node's caches of random bytes are empty in the image.
// - Digests and ciphers in use (`crypto`), and the table of their owners: made at the first use in
//   a process. The kernel keeps digests and ciphers per process.
// - `import.meta.url` of the program, `[evalN]`: from the start block; the shim counts evaluations.
// - `umask`, `stdin`: in their initial state, because the image's build never uses them.
//
// Equal in every process, and no secret: asynchronous ids, the ids of timers, `os` facts
// (../internal-bindings/os.js). Node reads some variables once, while the image is made. These
// variables have no effect when set for one process: NODE_DEBUG, NODE_NO_WARNINGS,
// NODE_EXTRA_CA_CERTS. ../program/options.js reads NODE_OPTIONS in each process.
//
// Lazy values cost a process nothing until they are read, so a start runs no JavaScript at all. The
// list for a restored process is in restore.js. Next: process.js, which calls `defineProcessState`;
// ../internal-bindings/process_methods.js and performance.js for the clocks.
'use strict';

const context = require('../context.js');
const loopClock = require('../event-loop/loop-clock.js');
const { learn: learnKeptBytes } = require('../crypto/random-kept.js');
const { forget: forgetPackages } = require('../modules/packages.js');
const { NUMBERS, sys } = require('../processes/calls.js');

const EXEC_PATH = '/usr/local/bin/node';

// Defines the values that Node's scripts find on `process` while the image is made. The values
// belong to no real process.
function defineProcessState(process) {
  process.title = 'node';
  process.execPath = EXEC_PATH;
  process.execArgv = [];
  process.debugPort = 9229;
  process.argv = ['node'];
  process.env = native.env();
}

// Resets the state of the process for the image. Must run after Node's preparation of the process
// and after the dummy programs.
function prepare() {
  const { process } = context;
  loopClock.reset();
  learnKeptBytes(context.requireBuiltin('crypto').randomInt);
  native.defineLazyProperty(process, 'argv', () => {
    const argv = native.argv();
    argv[0] = EXEC_PATH;
    return argv;
  });
  native.defineLazyProperty(process, 'argv0', () => native.argv()[0] ?? 'node');
  native.defineLazyProperty(process, 'pid', () => native.pid());
  Object.defineProperty(process, 'ppid', { get: parent, enumerable: true, configurable: true });
  // Node caches the working directory, and only a change of the directory empties the cache.
  process.chdir('/');
  forgetPackages();
  context.trackRejections();
}

// Returns the parent's pid. The kernel is called at each access, because a process whose parent
// ends receives another parent.
function parent() {
  const pid = sys(NUMBERS.getppid);
  return pid < 0 ? native.ppid() : pid;
}

module.exports = { defineProcessState, prepare };
