// A bootstrap that runs the engine's own test files. The bootstrap has a loader over the texts of
// the build input `suite/files.json`, and the globals that the files expect. The bootstrap also has
// the parts of `qjs:std` that make sense without an operating system. The parameters are `native`
// and `buildFile`.
'use strict';
const files = JSON.parse(buildFile('suite/files.json'));
const modules = new Map();
const text = (value) => {
  try {
    return typeof value === 'string' ? value : String(value);
  } catch {
    return '[object]'; // some test files print values that do not convert to text
  }
};

native.setHooks({
  link: (module, url) => {
    link(module, url);
    return native.evaluateModule(module);
  },
  uncaught(error) {
    native.write(2, `Uncaught ${error !== null && typeof error === 'object' && error.stack ? error.stack : text(error)}\n`);
    return false;
  },
  timers() {
    const due = timers.splice(0);
    native.loop.timerInfo[0] = 0;
    for (const callback of due) callback();
    return 0;
  },
});

const timers = [];
globalThis.print = (...values) => {
  native.write(1, `${values.map(text).join(' ')}\n`);
};
globalThis.console = { log: print };
globalThis.gc = native.gc;
globalThis.__script = (name) => native.evalScript(files[name], name);
globalThis.queueMicrotask = native.enqueueMicrotask;
globalThis.scriptArgs = ['test'];
globalThis.std = {
  gc: native.gc,
  exit: native.exit,
  evalScript: (source) => native.evalScript(source, '<evalScript>'),
  loadFile: (name) => files[resolve(name, 'tests/x.js')] ?? null,
};
globalThis.os = {
  setTimeout(callback, delay) {
    timers.push(callback);
    native.loop.timerInfo[0] = timers.length;
    native.toggleTimerRef(true);
    native.scheduleTimer(delay);
  },
};
native.setImportCallback((specifier, attributes, referrer) => {
  const module = load(resolve(specifier, referrer), specifier);
  const done = native.evaluateModule(module);
  return done.then(() => native.moduleNamespace(module));
});

function resolve(specifier, referrer) {
  if (!specifier.startsWith('.')) return specifier;
  const parts = referrer
    .replace(/^file:\/\/\//, '')
    .split('/')
    .slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

function synthetic(name, values) {
  const module = native.syntheticModule(name, Object.keys(values), () => {
    for (const key of Object.keys(values)) native.setSyntheticExport(module, key, values[key]);
  });
  return module;
}

/** Returns a compiled and linked module, not yet instantiated, because graphs may have cycles. */
function connect(name, specifier) {
  let module = modules.get(name);
  if (module) return module;
  if (name === 'qjs:std') module = synthetic(name, std);
  else if (name === 'qjs:os') module = synthetic(name, os);
  else if (name.endsWith('.json') && name in files) module = synthetic(name, { default: JSON.parse(files[name]) });
  else if (name in files) module = native.compileModule(files[name], name);
  else throw new ReferenceError(`could not load module '${specifier}'`);
  modules.set(name, module);
  connectRequests(module, name);
  return module;
}

function connectRequests(module, name) {
  native.linkModule(
    module,
    native.moduleRequests(module).map(([specifier]) => connect(resolve(specifier, name), specifier)),
  );
}

function load(name, specifier) {
  const module = connect(name, specifier);
  native.instantiateModule(module);
  return module;
}

function link(module, name) {
  modules.set(name, module);
  connectRequests(module, name);
  native.instantiateModule(module);
}
