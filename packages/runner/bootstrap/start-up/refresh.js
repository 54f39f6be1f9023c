// What: THE list of what must be fresh when a process starts from the image. This is a security contract: whatever a process could
// read of the machine that built the image, or share with another process, and that is not listed here, is a leak.
//
// | state | how it is made fresh |
// |---|---|
// | `process.env` | one exotic object of the shim that reads the start block's table; nothing of the build's environment exists in it |
// | `process.argv`, `process.argv0` | lazy: the array is made from the start block at the first access |
// | `process.pid` | lazy, from the start block |
// | `process.ppid` | asked of the kernel at each access |
// | `process.cwd()`, and Node's cache of it | the cache is empty in the image (`prepare` below checks it); the first call reads the start block |
// | `process.execArgv`, `node`'s options | empty, unless the start block has some: then options.js makes the process's own |
// | `process.execPath`, `process.title` | constants: the same for everyone and true of no machine |
// | `package.json` files that were read | none in the image |
// | `process.exitCode`, `_exiting`, tick, timer and immediate counters | typed arrays over the shim's memory, zeroed by the shim at START |
// | `process.hrtime()`, `performance.now()`, `Date` | read from the host at each call |
// | `performance.timeOrigin`, `performance.nodeTiming` | the milestones array lies over the shim's memory, written by the shim at START |
// | `performance.eventLoopUtilization()`, `nodeTiming.loopStart` | counted in the process; what the image's building counted is reset (`prepare` below) |
// | timers' clock (`getLibuvNow`) | counts from START, in the shim |
// | `Math.random()` | the shim reseeds the engine's generator from the host at START |
// | `crypto.randomBytes()`, `randomUUID()`, `getRandomValues()` | read from the host at each call; Node's caches of random bytes are empty in the image |
// | digests and ciphers under way (`crypto`), and the table of their owners | made at the first use in a process; the kernel knows them per process |
// | `import.meta.url` of the program, `[evalN]` | from the start block; the shim counts evaluations |
// | `umask`, `stdin` | in their first state: never touched while the image is made |
//
// The same in every process, and no secret: asynchronous ids, the ids of timers, `os` facts (bindings/os.js).
// Read once by Node and therefore without effect when set for one process: NODE_OPTIONS, NODE_DEBUG, NODE_NO_WARNINGS, NODE_EXTRA_CA_CERTS.
//
// Why lazily: a process that never asks pays nothing, so that a start runs no JavaScript at all.
// A process that was saved and lives again has a list of its own: restore.js.
// Next: process.js, which calls `defineProcessState`; bindings/process_methods.js and bindings/performance.js for the clocks.
'use strict';

const context = require('../context.js');
const loopClock = require('../event-loop/loop-clock.js');
const { learn: learnKeptBytes } = require('../crypto/random-kept.js');
const { forget: forgetPackages } = require('../modules/packages.js');
const { NUMBERS, sys } = require('../processes/calls.js');

const EXEC_PATH = '/usr/local/bin/node';

// What Node's scripts find on `process` while the image is made: the values of a process that never was.
function defineProcessState(process) {
  process.title = 'node';
  process.execPath = EXEC_PATH;
  process.execArgv = [];
  process.debugPort = 9229;
  process.argv = ['node'];
  process.env = native.env();
}

// Last, after Node's preparation of the process has run.
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
  // Node caches the working directory; changing it is the one way to empty that cache.
  process.chdir('/');
  forgetPackages();
  context.trackRejections();
}

// A process whose parent ends gets another.
function parent() {
  const pid = sys(NUMBERS.getppid);
  return pid < 0 ? native.ppid() : pid;
}

module.exports = { defineProcessState, prepare };
