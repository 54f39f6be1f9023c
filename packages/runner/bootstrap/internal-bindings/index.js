// Makes the result of `internalBinding(name)`: the skeleton from the shapes of the real Node, which
// our implementation then changes. Each binding has a file, because Node changes by binding and
// readers search by binding. Next: shapes.js, then any of the listed files.
'use strict';

const { hasShape, skeletonOf } = require('./shapes.js');

// The bindings with an implementation of ours. Other bindings have constants, and functions that
// throw when they are called.
const IMPLEMENTED = [
  'async_context_frame',
  'async_wrap',
  'blob',
  'block_list',
  'buffer',
  'builtins',
  'cares_wrap',
  'cjs_lexer',
  'config',
  'contextify',
  'credentials',
  'crypto',
  'diagnostics_channel',
  'encoding_binding',
  'errors',
  'fs',
  'fs_dir',
  'fs_event_wrap',
  'http2',
  'http_parser',
  'icu',
  'inspector',
  'internal_only_v8',
  'ipc_serdes',
  'js_stream',
  'messaging',
  'mksnapshot',
  'module_wrap',
  'modules',
  'options',
  'os',
  'performance',
  'pipe_wrap',
  'permission',
  'process_methods',
  'process_wrap',
  'report',
  'serdes',
  'signal_wrap',
  'spawn_sync',
  'stream_pipe',
  'stream_wrap',
  'string_decoder',
  'task_queue',
  'tcp_wrap',
  'timers',
  'tls_wrap',
  'trace_events',
  'tty_wrap',
  'types',
  'udp_wrap',
  'url',
  'util',
  'uv',
  'v8',
  'wasm_web_api',
  'worker',
  'zlib',
];

const implementations = new Map();
for (const name of IMPLEMENTED) implementations.set(name, require(`./${name}.js`));

const made = new Map();

function getInternalBinding(name) {
  const known = made.get(name);
  if (known !== undefined) return known;
  const implement = implementations.get(name);
  if (implement === undefined && !hasShape(name)) throw new Error(`No such binding: ${name}`);
  const binding = skeletonOf(name);
  made.set(name, binding);
  implement?.(binding, getInternalBinding);
  return binding;
}

module.exports = { getInternalBinding };
