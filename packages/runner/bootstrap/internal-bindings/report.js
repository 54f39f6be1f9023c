// Diagnostic reports (node_report_module.cc). A report has only the parts that exist in a guest.
// npm and packages with native code read a report to find the C library. A guest has no C library
// and no shared objects. Reports are written neither to files nor after signals, and these
// functions throw. Next: os.js, which has the facts of the header.
'use strict';

const context = require('../context.js');

// The version of the report's format in Node 24.
const VERSION = 5;

module.exports = function report(binding, getInternalBinding) {
  binding.shouldReportOnUncaughtException = () => false;
  binding.setReportOnUncaughtException = () => {};
  binding.shouldReportOnFatalError = () => false;
  binding.shouldReportOnSignal = () => false;
  binding.getSignal = () => 'SIGUSR2';

  const settings = { Compact: false, Directory: '', ExcludeEnv: false, ExcludeNetwork: false, Filename: '' };
  for (const name of Object.keys(settings)) {
    binding[`get${name}`] = () => settings[name];
    binding[`set${name}`] = (value) => {
      settings[name] = value;
    };
  }

  binding.getReport = (error) => {
    const parts = {
      header: headerOf(getInternalBinding('os')),
      javascriptStack: stackOf(error),
      nativeStack: [],
      libuv: [],
      workers: [],
      environmentVariables: settings.ExcludeEnv ? undefined : { ...context.process.env },
      userLimits: {},
      sharedObjects: [],
    };
    return context.primordials.JSONStringify(parts);
  };
};

function headerOf(os) {
  const { process } = context;
  const [osName, osVersion, osRelease, osMachine] = os.getOSInformation();
  const now = Date.now();
  return {
    reportVersion: VERSION,
    event: 'JavaScript API',
    trigger: 'GetReport',
    filename: null,
    dumpEventTime: `${new Date(now).toISOString().slice(0, 19)}Z`,
    dumpEventTimeStamp: `${now}`,
    processId: process.pid,
    threadId: 0,
    cwd: process.cwd(),
    commandLine: [process.execPath, ...process.execArgv, ...process.argv.slice(1)],
    nodejsVersion: process.version,
    wordSize: 64,
    arch: process.arch,
    platform: process.platform,
    componentVersions: { ...process.versions },
    release: { name: process.release.name },
    osName,
    osRelease,
    osVersion,
    osMachine,
    host: os.getHostname(),
  };
}

function stackOf(error) {
  const [message = '', ...frames] = `${error?.stack ?? ''}`.split('\n');
  return { message, stack: frames.map((frame) => frame.trim()), errorProperties: {} };
}
