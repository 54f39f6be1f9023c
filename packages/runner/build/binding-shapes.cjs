// Runs inside the pinned Node (`--expose-internals`) and prints the shape of each internalBinding
// as JSON on stdout. Constants are copied. Functions and classes are described by name and shape.
// The bootstrap makes its bindings from these shapes and replaces the functions that the guest
// implements. An upgrade of Node therefore appears as a difference of shapes. NATIVES.md, "Build
// inputs", describes the format.
'use strict';
const { internalBinding } = require('internal/test/binding');

const BINDINGS = `async_context_frame async_wrap blob block_list buffer builtins cares_wrap cjs_lexer config constants contextify
  credentials crypto diagnostics_channel encoding_binding errors fs fs_dir fs_event_wrap heap_utils http2 http_parser
  icu inspector internal_only_v8 ipc_serdes js_stream locks messaging mksnapshot module_wrap modules options os
  performance permission pipe_wrap process_methods process_wrap profiler quic report sea serdes signal_wrap spawn_sync
  sqlite stream_pipe stream_wrap string_decoder symbols task_queue tcp_wrap timers tls_wrap trace_events tty_wrap
  types udp_wrap url url_pattern util uv v8 wasi wasm_web_api watchdog webstorage worker zlib`.split(/\s+/);

const MAX_DEPTH = 6;
// The length of the longest recorded text. Longer texts (process.config and similar) are no facts
// of a shape.
const MAX_STRING = 20_000;
const MAX_TYPED_ARRAY = 64;

function shapeOf(value, depth = 0, seen = new Set()) {
  switch (typeof value) {
    case 'number':
      return { t: 'n', v: Number.isFinite(value) ? value : String(value) };
    case 'string':
      return { t: 's', v: value.length > MAX_STRING ? '' : value };
    case 'boolean':
      return { t: 'b', v: value };
    case 'undefined':
      return { t: 'u' };
    case 'bigint':
      return { t: 'big', v: String(value) };
    case 'symbol':
      return { t: 'sym', v: value.description };
    case 'function':
      return shapeOfFunction(value, depth, seen);
    default:
      return value === null ? { t: 'null' } : shapeOfObject(value, depth, seen);
  }
}

function shapeOfFunction(fn, depth, seen) {
  const shape = { t: 'f', l: fn.length, n: fn.name };
  if (fn.prototype === null || typeof fn.prototype !== 'object') return shape;
  const names = (object) => Object.getOwnPropertyNames(object).filter((name) => name !== 'constructor');
  const chain = [];
  for (
    let proto = Object.getPrototypeOf(fn.prototype);
    proto && proto !== Object.prototype;
    proto = Object.getPrototypeOf(proto)
  ) {
    chain.push(...names(proto));
  }
  shape.cls = { m: names(fn.prototype), chain };
  const statics = Object.keys(fn);
  if (statics.length) shape.st = Object.fromEntries(statics.map((key) => [key, shapeOf(fn[key], depth + 1, seen)]));
  return shape;
}

function shapeOfObject(object, depth, seen) {
  if (seen.has(object) || depth > MAX_DEPTH) return { t: 'cyc' };
  seen.add(object);
  const inner = (value) => shapeOf(value, depth + 1, seen);
  if (ArrayBuffer.isView(object)) {
    const values = Array.from(object).slice(0, MAX_TYPED_ARRAY);
    return {
      t: 'ta',
      k: object.constructor.name,
      l: object.length,
      v: values.map((value) => (typeof value === 'bigint' ? String(value) : Number.isFinite(value) ? value : 0)),
    };
  }
  if (object instanceof ArrayBuffer) return { t: 'ab', l: object.byteLength };
  if (Array.isArray(object)) return { t: 'a', v: object.map(inner) };
  if (object instanceof Map) return { t: 'map', v: [...object].map((entry) => entry.map(inner)) };
  if (object instanceof Set) return { t: 'set', v: [...object].map(inner) };
  const properties = {};
  for (const key of Object.getOwnPropertyNames(object)) {
    let value;
    try {
      value = object[key];
    } catch {
      continue; // the accessor throws without an instance
    }
    properties[key] = inner(value);
  }
  const shape = { t: 'o', np: Object.getPrototypeOf(object) === null, v: properties };
  if (isReadOnly(object)) shape.ro = true;
  const hidden = Object.keys(properties).filter((key) => !Object.prototype.propertyIsEnumerable.call(object, key));
  if (hidden.length) shape.h = hidden;
  return shape;
}

// Returns whether an object contains only numbers that are neither writable nor configurable, like
// the constants of Node's C++.
function isReadOnly(object) {
  const all = Object.values(Object.getOwnPropertyDescriptors(object));
  return (
    all.length > 0 && all.every(({ value, writable, configurable }) => typeof value === 'number' && !writable && !configurable)
  );
}

const shapes = {};
for (const name of BINDINGS) {
  let binding;
  try {
    binding = internalBinding(name);
  } catch {
    continue; // this version of Node does not have the binding
  }
  // For the binding `builtins`, only the categories are recorded, because the sources are separate
  // files.
  shapes[name] =
    name === 'builtins' ? { t: 'o', v: { builtinCategories: shapeOf(binding.builtinCategories) } } : shapeOf(binding);
}
const symbols = internalBinding('symbols');
shapes.symbols = {
  t: 'o',
  v: Object.fromEntries(Object.keys(symbols).map((key) => [key, { t: 'sym', v: symbols[key].description }])),
};
shapes.__options = shapeOf(internalBinding('options').getCLIOptionsValues());
// The options are stored as text, which the guest parses at the first use. The texts of `node
// --help` are omitted.
const { options, aliases } = internalBinding('options').getCLIOptionsInfo();
const facts = [...options].map(([name, { envVarSettings, type, defaultIsTrue }]) => [
  name,
  envVarSettings,
  type,
  defaultIsTrue ? 1 : 0,
]);
shapes.__optionsInfo = shapeOf(JSON.stringify([facts, [...aliases]]));
shapes.__errorMap = shapeOf(internalBinding('uv').getErrorMap());
const { version, versions, release, arch } = process;
shapes.__process = shapeOf({ version, versions: { ...versions }, release: { ...release }, arch });

process.stdout.write(JSON.stringify(shapes));
