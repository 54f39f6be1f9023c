// What: compiling source text for `vm`, CommonJS and `eval` (node_contextify.cc). Contexts of their own (`vm.createContext`) do not exist yet.
// Next: module_wrap.js for ES modules.
'use strict';

const context = require('../context.js');
const { unavailableError } = require('../unavailable.js');

const { remember } = require('../referrers.js');
const { sourceMapUrlOf } = require('../source-map-url.js');
const { untouchedGlobal } = require('../untouched-realm.js');

const NONE = {};
const CJS_PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

module.exports = function contextify(binding) {
  // Node's library makes one context of its own, to have a RegExp that no program has touched.
  let internal = NONE;
  binding.makeContext = (object, name) => {
    if (name !== 'internal') throw unavailableError('vm.createContext');
    object[context.privateSymbols.contextify_context_private_symbol] = object;
    internal = object;
    return object;
  };
  binding.ContextifyScript = class ContextifyScript {
    #run;
    constructor(code, filename, line = 0, column = 0, cachedData, _produceCachedData, parsingContext, option) {
      if (parsingContext !== undefined && parsingContext !== internal) throw unavailableError('vm.createContext');
      this.#run = parsingContext === internal ? untouchedGlobal : native.compileScript(code, filename, { line, column });
      const id = typeof option === 'symbol' ? option : Symbol(filename);
      this[context.privateSymbols.host_defined_option_symbol] = id;
      if (parsingContext !== internal) remember(filename, id);
      this.sourceMapURL = sourceMapUrlOf(code);
      if (cachedData !== undefined) this.cachedDataRejected = true;
    }
    runInContext(contextified) {
      if (contextified !== null && contextified !== undefined && contextified !== internal)
        throw unavailableError('vm.createContext');
      return this.#run();
    }
    createCachedData() {
      return context.requireBuiltin('buffer').Buffer.alloc(0);
    }
  };
  binding.compileFunction = (...given) => {
    const [code, filename, line, column, cachedData, produceCachedData, parsingContext, , params = [], option] = given;
    if (parsingContext !== undefined) throw unavailableError('vm.createContext');
    const compiled = native.compileFunction(code, filename, params, { line, column });
    const id = typeof option === 'symbol' ? option : Symbol(filename);
    compiled[context.privateSymbols.host_defined_option_symbol] = id;
    remember(filename, id);
    const result = { __proto__: null, function: compiled, sourceMapURL: sourceMapUrlOf(code) };
    // The engine has no code cache: what is given is never used, what is asked for is empty.
    if (cachedData !== undefined) result.cachedDataRejected = true;
    if (produceCachedData) {
      result.cachedDataProduced = true;
      result.cachedData = context.requireBuiltin('buffer').Buffer.alloc(0);
    }
    return result;
  };
  binding.compileFunctionForCJSLoader = (code, filename, _isSeaMain, shouldDetectModule) => {
    const result = {
      __proto__: null,
      canParseAsESM: false,
      cachedDataRejected: false,
      sourceMapURL: sourceMapUrlOf(code),
      function: undefined,
    };
    try {
      result.function = native.compileFunction(code, filename, CJS_PARAMETERS);
    } catch (error) {
      result.canParseAsESM = error instanceof SyntaxError && parsesAsModule(code);
      if (!result.canParseAsESM || !shouldDetectModule) {
        showLine(error, code);
        throw error;
      }
    }
    return result;
  };
  binding.shouldRetryAsESM = (code) => parsesAsModule(code);
  binding.containsModuleSyntax = (code) => {
    try {
      native.compileFunction(code, '', CJS_PARAMETERS);
      return false;
    } catch {
      return parsesAsModule(code);
    }
  };
  binding.startSigintWatchdog = () => {};
  binding.stopSigintWatchdog = () => false;
  binding.watchdogHasPendingSigint = () => false;
};

// Node puts the line that does not parse above the error; the loader's own frames are what the stack has.
function showLine(error, code) {
  const position = native.errorPosition(error);
  const line = position && code.split(/\r?\n/)[position[1] - 1];
  if (line === undefined) return;
  const [file, number, column] = position;
  const indent = line.slice(0, Math.max(column - 1, 0)).replace(/[^\t]/g, ' ');
  error[context.privateSymbols.arrow_message_private_symbol] = `${file}:${number}\n${line}\n${indent}^\n`;
}

function parsesAsModule(code) {
  try {
    native.compileModule(code, 'file:///');
    return true;
  } catch {
    return false;
  }
}
