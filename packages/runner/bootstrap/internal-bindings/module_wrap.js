// ES modules as Node's loader uses them (module_wrap.cc), over the shim's module handles. Next:
// ../modules/linking.js, which needs no loader for a program that imports only builtins.
'use strict';

const context = require('../context.js');
const { createCachedData, isRejected } = require('../vm/cached-data.js');
const { sourceMapUrlOf } = require('../vm/source-map-url.js');
const { instantiate, installCallbacks } = require('../modules/linking.js');
const { handleOf: contextHandleOf, runLimited } = require('../vm/contexts.js');
const { remember, setMain } = require('../modules/referrers.js');

const FACADE = "export * from 'original'; export { default } from 'original'; export const __esModule = true;";

function cachedDataRejected() {
  const error = new Error('cachedData buffer was rejected');
  error.code = 'ERR_VM_MODULE_CACHED_DATA_REJECTED';
  return error;
}

module.exports = function moduleWrap(binding, getInternalBinding) {
  const { kEvaluationPhase } = binding;
  const symbols = getInternalBinding('symbols');

  class ModuleWrap {
    #handle;
    #context;
    #source;
    #requests;
    #linked = [];
    #synthetic = false;

    constructor(url, parsingContext, source, third, fourth, fifth) {
      this.url = url;
      this.sourceMapURL = undefined;
      if (Array.isArray(source)) {
        this.#synthetic = true;
        this.#handle = native.syntheticModule(url, source, () => third.call(this, this));
        native.linkModule(this.#handle, []);
      } else if (typeof source === 'string') {
        this.#context = contextHandleOf(parsingContext);
        this.#handle = native.compileModule(source, url, { line: third ?? 0, column: fourth ?? 0, context: this.#context });
        this.sourceMapURL = sourceMapUrlOf(source);
        if (ArrayBuffer.isView(fifth) && isRejected(fifth, source)) throw cachedDataRejected();
        const id = typeof fifth === 'symbol' ? fifth : Symbol(url);
        // A module of `vm` has a symbol of its own, by which `import()` finds the module.
        if (id !== symbols.source_text_module_default_hdo) this.#source = source;
        this[context.privateSymbols.host_defined_option_symbol] = id;
        remember(url, id, this);
      } else {
        // If the argument is a handle and no source text, the module is the program, which the shim
        // has compiled.
        this.#handle = source;
        this[context.privateSymbols.host_defined_option_symbol] = symbols.source_text_module_default_hdo;
      }
    }

    set isMain(value) {
      if (value) setMain(this.url);
    }
    get hasTopLevelAwait() {
      return !this.#synthetic && native.hasTopLevelAwait(this.#handle);
    }
    get hasAsyncGraph() {
      return !this.#synthetic && native.isGraphAsync(this.#handle);
    }

    getModuleRequests() {
      this.#requests ??= this.#synthetic
        ? []
        : native.moduleRequests(this.#handle).map(([specifier, attributes]) => ({
            __proto__: null,
            specifier,
            attributes: Object.assign({ __proto__: null }, attributes),
            phase: kEvaluationPhase,
          }));
      return this.#requests;
    }
    link(modules) {
      this.#linked = Array.prototype.slice.call(modules);
      if (!this.#synthetic)
        native.linkModule(
          this.#handle,
          this.#linked.map((module) => module.#handle),
        );
    }
    instantiate() {
      instantiate(this.#handle);
    }
    evaluate(timeout = -1) {
      return runLimited(() => native.evaluateModule(this.#handle), timeout, this.#context);
    }
    evaluateSync() {
      return native.evaluateModuleSync(this.#handle);
    }
    getNamespace() {
      return native.moduleNamespace(this.#handle);
    }
    getStatus() {
      return native.moduleStatus(this.#handle);
    }
    getError() {
      return native.moduleError(this.#handle);
    }
    setExport(name, value) {
      native.setSyntheticExport(this.#handle, name, value);
    }
    createCachedData() {
      return createCachedData(this.#source ?? '');
    }

    static handleOf(wrap) {
      return wrap.#handle;
    }
  }

  context.handleOf = ModuleWrap.handleOf;
  delete ModuleWrap.handleOf;
  binding.ModuleWrap = ModuleWrap;
  binding.setInitializeImportMetaObjectCallback = (initialize) => {
    context.initializeImportMeta = initialize;
  };
  binding.setImportModuleDynamicallyCallback = (load) => {
    context.importModuleDynamically = load;
    installCallbacks(symbols, kEvaluationPhase);
  };
  // Makes the result of `require` of an ES module with a default export. The result is a namespace
  // with the module's exports and `__esModule`, which transpiled code tests for.
  binding.createRequiredModuleFacade = (wrap) => {
    const handle = native.compileModule(FACADE, 'node:internal/require_module_default_facade');
    const original = context.handleOf(wrap);
    native.linkModule(
      handle,
      native.moduleRequests(handle).map(() => original),
    );
    native.instantiateModule(handle);
    return native.evaluateModuleSync(handle);
  };
  binding.throwIfPromiseRejected = (promise) => {
    const [state, result] = native.promiseDetails(promise);
    if (state === 2) throw result;
  };
};
