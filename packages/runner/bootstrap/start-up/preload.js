// Work that the image does in advance for each process. Public modules are loaded, every other file
// of the library is compiled, and dummy programs run the code that most programs run. A module that
// a process loads costs a millisecond and the module's pages in every process. A module in the
// image costs nothing until its first use. Next: refresh.js, which must run afterwards, because the
// dummy programs change state, such as the cached working directory.
'use strict';

const context = require('../context.js');
const { ids, compileAhead, sourceOf } = require('./builtins.js');
const { adaptResolveCache, prepareFacades } = require('../modules/linking.js');
const dummies = require('./dummies.js');
const shell = require('../program/shell.js');

const PUBLIC = [
  'assert',
  'assert/strict',
  'async_hooks',
  'buffer',
  'child_process',
  'console',
  'constants',
  'crypto',
  'dgram',
  'diagnostics_channel',
  'dns',
  'dns/promises',
  'events',
  'fs',
  'fs/promises',
  'http',
  'https',
  'module',
  'net',
  'os',
  'path',
  'path/posix',
  'path/win32',
  'perf_hooks',
  'process',
  'querystring',
  'readline',
  'readline/promises',
  'stream',
  'stream/consumers',
  'stream/promises',
  'stream/web',
  'string_decoder',
  'timers',
  'timers/promises',
  'tls',
  'tty',
  'url',
  'util',
  'util/types',
  'v8',
  'vm',
  'worker_threads',
  'zlib',
];

const INTERNAL = [
  'internal/process/finalization',
  'internal/util/colors',
  'internal/tty',
  'internal/error_serdes',
  'internal/cli_table',
  'internal/navigator',
  'internal/vm/module',
  'internal/streams/duplexify',
  'internal/worker/clone_dom_exception',
  'internal/fs/read/context',
  'internal/assert/assertion_error',
  'internal/util/comparisons',
  'internal/blob',
  'internal/file',
  'internal/abort_controller',
];

// Node's main scripts for the ways in which a child process runs (../program/command-line.js).
const MAIN = ['check_syntax', 'eval_stdin', 'eval_string', 'repl'];

// Files that this guest does not need. The files are V8's log processors (ES modules for the
// profiler's own program), a TypeScript parser in WebAssembly, and the debugger's command line.
// Modules behind an experimental flag of Node (QUIC, iterable streams) are omitted too.
const LEFT_OUT = /^(?:internal\/(?:deps\/(?:amaro|v8)|debugger|quic|streams\/iter)\/|internal\/v8_prof_|stream\/iter$|quic$)/;

module.exports = function preload() {
  compileAll();
  for (const id of [...PUBLIC, ...INTERNAL]) context.requireBuiltin(id);
  touchLazyGlobals();
  context.requireBuiltin('internal/modules/esm/loader').getOrInitializeCascadedLoader();
  adaptResolveCache();
  prepareFacades();
  dummies.run();
  shell.install(dummies.settle);
};

// Compiles the largest files first, and all files before any file is loaded. Compiling leaves free
// blocks in the heap, which later files fill, so the image has no large free blocks.
function compileAll() {
  const wanted = ids.filter((id) => !isLoaded(id) && !LEFT_OUT.test(id));
  wanted.push(...MAIN.map((name) => `internal/main/${name}`));
  const size = new Map(wanted.map((id) => [id, sourceOf(id).length]));
  for (const id of wanted.sort((a, b) => size.get(b) - size.get(a))) compileAhead(id);
  native.gc();
}

function isLoaded(id) {
  const { BuiltinModule } = context.requireBuiltin('internal/bootstrap/realm');
  return BuiltinModule.map.get(id)?.loaded === true || /^internal\/(?:bootstrap|main|per_context)\//.test(id);
}

// Globals that Node loads at their first use and that programs use.
const GLOBALS = [
  'AbortController',
  'AbortSignal',
  'Blob',
  'ReadableStream',
  'WritableStream',
  'TransformStream',
  'TextEncoderStream',
  'TextDecoderStream',
  'performance',
  'structuredClone',
  'navigator',
  'DOMException',
  'BroadcastChannel',
  'MessageChannel',
  'URLPattern',
  'CustomEvent',
  'EventTarget',
];

function touchLazyGlobals() {
  for (const name of GLOBALS) void globalThis[name];
}
