// The introspection functions under util.inspect, assert and the loaders (node_util.cc). Next:
// types.js for the `isX` tests.
'use strict';

const context = require('../context.js');
const { External } = require('../engine-gaps/external.js');
const { parseEnv } = require('../program/dotenv.js');
const { NUMBERS, sys } = require('../fs/calls.js');
const { FILE_KIND } = require('../net/calls.js');

module.exports = function util(binding, getInternalBinding) {
  const symbols = binding.privateSymbols;
  for (const name of Object.keys(symbols)) symbols[name] = native.privateSymbol(symbols[name].description);
  context.privateSymbols = symbols;

  const { ONLY_ENUMERABLE, SKIP_SYMBOLS } = binding.constants;
  binding.getPromiseDetails = native.promiseDetails;
  binding.getProxyDetails = (value, both = true) => {
    const details = native.proxyDetails(value);
    if (details === undefined) return undefined;
    return both ? details : details[0];
  };
  binding.previewEntries = (value, isIterator) => {
    const preview = native.previewEntries(value);
    if (preview === undefined) return undefined;
    return isIterator ? preview : preview[0];
  };
  binding.getOwnNonIndexProperties = (value, filter) =>
    native.ownNonIndexKeys(value, (filter & ONLY_ENUMERABLE) !== 0, (filter & SKIP_SYMBOLS) !== 0);
  binding.getConstructorName = (value) => native.constructorName(value) || 'Object';
  binding.getExternalValue = External.addressOf;

  // Skips the first frame, which is Node's own caller of this function.
  binding.getCallSites = (count) => native.callSites(1, count).map(toCallSite);
  binding.getCallerLocation = () => {
    const site = native.callSites(1, 1)[0];
    return site === undefined ? undefined : [site.lineNumber, site.columnNumber, site.scriptName];
  };
  binding.isInsideNodeModules = () => {
    for (const { scriptName } of native.callSites(1, 10)) {
      if (scriptName && !scriptName.startsWith('node:')) return /[/\\]node_modules[/\\]/.test(scriptName);
    }
    return false;
  };

  // Blocks the whole process, as in Node. The sidecar counts the time as run time of the
  // program.
  binding.sleep = (ms) => {
    const end = native.clockNs(1) + ms * 1e6;
    while (native.clockNs(1) < end);
  };
  binding.parseEnv = parseEnv;
  binding.arrayBufferViewHasBuffer = () => true;
  binding.constructSharedArrayBuffer = (length) => new SharedArrayBuffer(length);
  binding.markPromiseAsHandled = (promise) => {
    promise.then(undefined, () => {});
  };
  binding.guessHandleType = (fd) => {
    const kind = sys(NUMBERS.kind, fd);
    // Without a kernel, the image is being made. process.stdout is then a file, which most programs
    // need (../standard-streams/stdio.js).
    return kind < 0 ? FILE_KIND : kind;
  };
  binding.isConstructor = native.isConstructor;

  binding.defineLazyProperties = (target, id, keys, enumerable = true) => {
    for (const key of keys) {
      native.defineLazyProperty(target, key, () => context.requireBuiltin(id)[key], enumerable);
    }
  };

  // process.binding('util') exposes these functions; pre_execution replaces them.
  const types = getInternalBinding('types');
  for (const name of Object.keys(types)) if (name in binding) binding[name] = types[name];
  binding.isArrayBufferView = ArrayBuffer.isView;
};

function toCallSite(site) {
  return {
    functionName: site.functionName || '',
    scriptId: '0',
    scriptName: site.scriptName || '',
    lineNumber: site.lineNumber,
    columnNumber: site.columnNumber,
    column: site.columnNumber,
  };
}
