// Compiles source text for `vm`, CommonJS and `eval` (node_contextify.cc). Next: ../vm/contexts.js
// for contexts, module_wrap.js for ES modules.
'use strict';

const context = require('../context.js');
const { createCachedData, isRejected } = require('../vm/cached-data.js');
const { decorateStack } = require('../errors/decorate.js');
const { handleOf, makeContext, runLimited } = require('../vm/contexts.js');
const { remember } = require('../modules/referrers.js');
const { sourceMapUrlOf } = require('../vm/source-map-url.js');
const { untouchedGlobal } = require('../engine-gaps/untouched-realm.js');
const { webAssemblyFor } = require('../http/undici-package.js');

const NONE = {};
const CJS_PARAMETERS = ['exports', 'require', 'module', '__filename', '__dirname'];

module.exports = function contextify(binding) {
  // Node's library makes one context for itself, to have a RegExp that no program has changed.
  const { SafeWeakMap } = context.primordials;
  let internal = NONE;
  binding.makeContext = (object, name, _origin, strings, _wasm, ownMicrotasks, option) => {
    if (name === 'internal') {
      object[context.privateSymbols.contextify_context_private_symbol] = object;
      internal = object;
      return object;
    }
    const result = makeContext(typeof object === 'symbol' ? undefined : object, strings, ownMicrotasks);
    result[context.privateSymbols.host_defined_option_symbol] = option;
    return result;
  };
  binding.ContextifyScript = class ContextifyScript {
    #text;
    #parsed;
    #inContexts;
    constructor(code, filename, line = 0, column = 0, cachedData, produceCachedData, parsingContext, option) {
      const id = typeof option === 'symbol' ? option : Symbol(filename);
      this[context.privateSymbols.host_defined_option_symbol] = id;
      if (parsingContext === internal) {
        this.#parsed = { run: untouchedGlobal };
        return;
      }
      this.#text = [code, filename, line, column];
      const handle = handleOf(parsingContext);
      try {
        this.#parsed = { handle, run: this.#compile(handle) };
      } catch (error) {
        decorateStack(error, code, filename, line);
        throw error;
      }
      remember(filename, id);
      this.sourceMapURL = sourceMapUrlOf(code);
      markCachedData(this, code, cachedData, produceCachedData);
    }
    #compile(handle) {
      const [code, filename, line, column] = this.#text;
      return native.compileScript(code, filename, { line, column, context: handle });
    }
    // A script belongs to the realm that compiled it. Each other context compiles the script once,
    // and the main realm compiles the script of another context at each run.
    #runIn(handle) {
      if (this.#parsed.run === untouchedGlobal || this.#parsed.handle === handle) return this.#parsed.run;
      if (handle === undefined) return this.#compile(undefined);
      this.#inContexts ??= new SafeWeakMap();
      let run = this.#inContexts.get(handle);
      if (run === undefined) {
        run = this.#compile(handle);
        this.#inContexts.set(handle, run);
      }
      return run;
    }
    runInContext(contextified, timeout = -1, displayErrors = true) {
      const handle = contextified === internal ? undefined : handleOf(contextified);
      const run = this.#runIn(handle);
      try {
        return runLimited(run, timeout, handle);
      } catch (error) {
        if (displayErrors && this.#text !== undefined && error?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT')
          decorateStack(error, this.#text[0], this.#text[1], this.#text[2]);
        throw error;
      }
    }
    createCachedData() {
      return createCachedData(this.#text[0]);
    }
  };
  binding.compileFunction = (...given) => {
    const [code, filename, line, column, cachedData, produceCachedData, parsingContext, extensions, params = [], option] = given;
    const options = { line, column, context: handleOf(parsingContext), scopes: extensions?.length };
    let compiled = native.compileFunction(code, filename, params, options);
    if (options.scopes) compiled = compiled(...extensions);
    const id = typeof option === 'symbol' ? option : Symbol(filename);
    compiled[context.privateSymbols.host_defined_option_symbol] = id;
    remember(filename, id);
    const result = { __proto__: null, function: compiled, sourceMapURL: sourceMapUrlOf(code) };
    markCachedData(result, code, cachedData, produceCachedData);
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
      result.function = compileCommonJs(code, filename);
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
  binding.startSigintWatchdog = () => true;
  binding.stopSigintWatchdog = () => false;
  binding.watchdogHasPendingSigint = () => false;
};

// Compiles the file of a CommonJS module. One file of the package undici has another parameter.
function compileCommonJs(code, filename) {
  const webAssembly = webAssemblyFor(filename);
  if (webAssembly === undefined) return native.compileFunction(code, filename, CJS_PARAMETERS);
  const compiled = native.compileFunction(code, filename, [...CJS_PARAMETERS, 'WebAssembly']);
  return function (exports, require, module, path, folder) {
    return context.primordials.ReflectApply(compiled, this, [exports, require, module, path, folder, webAssembly]);
  };
}

function markCachedData(result, code, given, wanted) {
  if (given !== undefined) result.cachedDataRejected = isRejected(given, code);
  if (!wanted) return;
  result.cachedDataProduced = true;
  result.cachedData = createCachedData(code);
}

// Stores the line with the syntax error in the error, as Node does. Reports print the line, because
// the stack has only the loader's own frames.
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
