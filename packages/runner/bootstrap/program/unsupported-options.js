// Options of `node` that need a part of Node that the sandbox lacks. Without a message, a program
// would run without the expected effect of the option. So `node` ends with the exit code for an
// invalid option, and names a replacement. Next: options.js, which reads the table.
'use strict';

const WATCH = 'start the program again after a change, or use fs.watch() in the program';
const INSPECT = 'there is no debugger; print values with console.log() or util.inspect()';
const PROFILE = 'there is no V8 profiler; measure with node:perf_hooks';
const HEAP = 'there is no V8 heap; read process.memoryUsage()';
const COVERAGE = 'there is no V8 coverage; use a tool that instruments the source';
const SNAPSHOT = 'the app takes snapshots with runtime.snapshot()';
const PERMISSION = 'the app restricts programs with the option `permissions` of the runtime';
const REPORT = 'there are no diagnostic reports; read process.memoryUsage() and process.resourceUsage()';
const TRACE = 'there are no trace events; measure with node:perf_hooks';
const SEA = 'run the file with node';

// Option → the replacement that the message names.
const REPLACEMENTS = {
  __proto__: null,
  '--watch': WATCH,
  '--watch-path': WATCH,
  '--watch-preserve-output': WATCH,
  '--watch-kill-signal': WATCH,
  '--inspect': INSPECT,
  '--inspect-brk': INSPECT,
  '--inspect-brk-node': INSPECT,
  '--inspect-wait': INSPECT,
  '--inspect-port': INSPECT,
  '--inspect-publish-uid': INSPECT,
  '--debug-port': INSPECT,
  '--experimental-network-inspection': INSPECT,
  '--cpu-prof': PROFILE,
  '--cpu-prof-dir': PROFILE,
  '--cpu-prof-interval': PROFILE,
  '--cpu-prof-name': PROFILE,
  '--prof': PROFILE,
  '--prof-process': PROFILE,
  '--heap-prof': HEAP,
  '--heap-prof-dir': HEAP,
  '--heap-prof-interval': HEAP,
  '--heap-prof-name': HEAP,
  '--heapsnapshot-signal': HEAP,
  '--heapsnapshot-near-heap-limit': HEAP,
  '--experimental-test-coverage': COVERAGE,
  '--build-snapshot': SNAPSHOT,
  '--build-snapshot-config': SNAPSHOT,
  '--snapshot-blob': SNAPSHOT,
  '--permission': PERMISSION,
  '--experimental-permission': PERMISSION,
  '--report-on-signal': REPORT,
  '--report-on-fatalerror': REPORT,
  '--report-uncaught-exception': REPORT,
  '--trace-event-categories': TRACE,
  '--build-sea': SEA,
  '--experimental-sea-config': SEA,
};

// Returns the reason why the option is refused, or undefined.
function reasonAgainst(option) {
  const replacement = REPLACEMENTS[option];
  return replacement && `${option} is not supported in the sandbox: ${replacement}`;
}

module.exports = { REPLACEMENTS, reasonAgainst };
