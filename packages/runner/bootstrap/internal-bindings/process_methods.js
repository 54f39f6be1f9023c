// The functions under `process` (node_process_methods.cc): clocks, directory, memory, exit. Next:
// ../start-up/refresh.js, which lists the functions that must be fresh in each process. All of them
// are fresh, because they call the shim each time.
'use strict';

const activeHandles = require('../event-loop/active-handles.js');
const activeRequests = require('../event-loop/active-requests.js');
const { reasonOf } = require('../errors/denials.js');
const { uvException } = require('../errors/errno.js');
const { NUMBERS: PROCESSES, sysWait } = require('../processes/calls.js');
const { send } = require('../processes/signals.js');
const { resetModes } = require('../processes/terminals.js');
const { unavailableError } = require('../errors/unavailable.js');

const { NUMBERS, sys } = require('../fs/calls.js');

const SIGABRT = 6;
// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU.
const STOPPING = [19, 20, 21, 22];
const SIGNAL_EXIT_CODE = 128;
const ENOSYS = -38;
const PATH_SIZE = 4096;

module.exports = function processMethods(binding) {
  clocks(binding);
  memory(binding);

  binding.umask = (mask) => {
    if (mask !== undefined) return sys(NUMBERS.umask, mask);
    const before = sys(NUMBERS.umask, 0);
    sys(NUMBERS.umask, before);
    return before;
  };
  binding.cwd = native.cwd;
  binding.chdir = chdir;
  binding.reallyExit = (code) => {
    resetModes();
    native.exit(code);
  };
  binding.abort = () => {
    send(native.pid(), SIGABRT);
    // Is reached only without a kernel, where the signal has no effect.
    native.exit(SIGNAL_EXIT_CODE + SIGABRT);
  };
  binding._rawDebug = (text) => {
    native.write(2, `${text}\n`);
  };
  binding._getActiveRequests = () => activeRequests.list();
  binding._getActiveHandles = activeHandles.owners;
  binding.getActiveResourcesInfo = activeResources;
  binding._kill = kill;
  binding.dlopen = () => {
    throw unavailableError('process.dlopen');
  };
  binding.patchProcessObject = () => {};
  binding.setEmitWarningSync = () => {};
  binding.loadEnvFile = () => {
    throw unavailableError('process.loadEnvFile');
  };
};

// Sends a signal. If a signal stops this process, the function returns after the process has
// continued.
function kill(pid, signal) {
  const status = send(pid, signal);
  if (status === 0 && STOPPING.includes(signal)) sysWait(PROCESSES.waitForWatched, 0);
  return status;
}

// Returns Node's names of the objects that keep the event loop alive.
function activeResources() {
  const requests = activeRequests.list().map((request) => request.constructor.name);
  const timers = new Array(native.loop.timerInfo[0]).fill('Timeout');
  const immediates = new Array(native.loop.immediateInfo[1]).fill('Immediate');
  return [...requests, ...activeHandles.names(), ...timers, ...immediates];
}

// Changes the directory. The kernel resolves and stores the path; the shim keeps the path as text.
function chdir(directory) {
  const result = sys(NUMBERS.chdir, directory);
  // Without a kernel, the image is being made.
  if (result === ENOSYS) return native.chdir(directory);
  if (result < 0) throw uvException(result, 'chdir', native.cwd(), directory, reasonOf(result));
  const bytes = new Uint8Array(PATH_SIZE);
  const length = sys(NUMBERS.getcwd, bytes);
  return native.chdir(length < 0 ? directory : native.decode(bytes, 0, length, native.encodings.utf8));
}

function clocks(binding) {
  const words = new ArrayBuffer(16);
  const bigWord = new BigInt64Array(words, 0, 1);
  const hrtimeBuffer = new Uint32Array(words, 0, 3);
  binding.hrtimeBuffer = hrtimeBuffer;
  binding.hrtime = () => native.hrtime(hrtimeBuffer);
  binding.hrtimeBigInt = () => native.hrtimeBigInt(bigWord);
  binding.uptime = () => (native.clockNs(1) - native.timeOrigin()[0]) / 1e9;
}

// Installs the functions that report memory and CPU time. The shim counts the engine's allocations.
// The sidecar does not report CPU time to the guest, so the guest reports the time since the
// process started.
function memory(binding) {
  binding.memoryUsage = (fields) => {
    const usage = native.memoryUsage();
    fields[0] = usage.rss;
    fields[1] = usage.heapTotal;
    fields[2] = usage.heapUsed;
    fields[3] = usage.external;
    fields[4] = usage.arrayBuffers;
  };
  binding.rss = () => native.memoryUsage().rss;
  binding.constrainedMemory = () => 0;
  binding.availableMemory = () => MAX_MEMORY_BYTES - native.memoryUsage().rss;
  const micros = () => (native.clockNs(1) - native.timeOrigin()[0]) / 1e3;
  const cpuUsage = (fields) => {
    fields[0] = micros();
    fields[1] = 0;
  };
  binding.cpuUsage = cpuUsage;
  binding.threadCpuUsage = cpuUsage;
  binding.resourceUsage = (fields) => {
    fields.fill(0);
    fields[0] = micros();
    fields[2] = native.memoryUsage().rss / 1024;
  };
}

// The largest possible linear memory of a guest (docs/internals/guest-abi.md).
const MAX_MEMORY_BYTES = 2 ** 31;
