// What: how the program's imports are resolved and linked. A program that imports only builtins is linked here, to the facades that preload.js
// has made; anything else goes to Node's own ES module loader, with its resolution and its messages.
// Why two ways: Node's loader costs tens of microseconds a run, and most programs import builtins or nothing. A program without imports
// never comes here.
// Next: bindings/module_wrap.js, through which Node's loader works; entry.js registers `link`.
'use strict';

const context = require('../context.js');
const { isMain, optionFor, wrapFor } = require('./referrers.js');
const { quote } = require('../errors/source-lines.js');

// What the shim calls a program that has no file.
const EVALUATED = /\/\[eval\d+\]$/;
const RESIDENT = 2;

// Specifier → { handle, namespace } of the public builtins that are in the image, with and without `node:`.
const facades = new Map();

function prepareFacades() {
  const { BuiltinModule } = context.requireBuiltin('internal/bootstrap/realm');
  for (const id of BuiltinModule.map.keys()) {
    const module = BuiltinModule.map.get(id);
    if (!module.loaded || !BuiltinModule.canBeRequiredByUsers(id)) continue;
    module.compileForPublicLoader();
    const wrap = module.getESMFacade();
    const facade = { handle: context.handleOf(wrap), namespace: wrap.getNamespace(), module };
    facades.set(`node:${id}`, facade);
    if (BuiltinModule.canBeRequiredWithoutScheme(id)) facades.set(id, facade);
  }
}

// Node's loader remembers what each module's specifiers led to, by the URL of the module. In a runner that would be an entry for every snippet:
// theirs are forgotten. And what a specifier leads to depends on the folder of the module, not on its name: a file that many modules of a folder
// import is looked for once. In Node that is microseconds; here it was half of the time that a graph of a thousand small files took.
function adaptResolveCache() {
  const { prototype } = context.requireBuiltin('internal/modules/esm/module_map').ResolveCache;
  const isSnippet = (url) => native.mode() === RESIDENT && EVALUATED.test(url);
  const { get, set } = prototype;
  prototype.get = function (key, parentUrl) {
    if (isSnippet(parentUrl)) return undefined;
    const known = get.call(this, key, parentUrl);
    const folder = known === undefined ? folderOf(parentUrl) : undefined;
    return folder === undefined ? known : get.call(this, key, folder);
  };
  prototype.set = function (key, parentUrl, result) {
    if (isSnippet(parentUrl)) return this;
    const folder = folderOf(parentUrl);
    return set.call(this, key, folder ?? parentUrl, result);
  };
}

// The folder's URL, which no module has: it ends with a slash. A query may hold slashes of its own.
function folderOf(url) {
  const { StringPrototypeIncludes, StringPrototypeLastIndexOf, StringPrototypeSlice, StringPrototypeStartsWith } =
    context.primordials;
  if (typeof url !== 'string' || !StringPrototypeStartsWith(url, 'file:')) return undefined;
  if (StringPrototypeIncludes(url, '?') || StringPrototypeIncludes(url, '#')) return undefined;
  return StringPrototypeSlice(url, 0, StringPrototypeLastIndexOf(url, '/') + 1);
}

// The shim's `link` hook: returns the promise of the program's end.
function link(handle, url) {
  const linked = [];
  for (const [specifier, attributes] of native.moduleRequests(handle)) {
    const facade = attributes === undefined ? facades.get(specifier) : undefined;
    if (facade === undefined) return linkWithLoader(handle, url);
    linked.push(facade.handle);
  }
  native.linkModule(handle, linked);
  instantiate(handle);
  return native.evaluateModule(handle);
}

function linkWithLoader(handle, url) {
  const { ModuleWrap } = context.internalBinding('module_wrap');
  const loader = context.requireBuiltin('internal/modules/esm/loader').getOrInitializeCascadedLoader();
  const wrap = new ModuleWrap(url, undefined, handle);
  wrap.isMain = true;
  const done = loader.executeModuleJob(url, wrap, true);
  // Node's loader remembers each module by its URL. Nobody can import this one, and a runner evaluates any number of them. Its own `delete`
  // would leave the name there.
  context.primordials.MapPrototypeDelete(loader.loadCache, url);
  return done;
}

// A name that a module does not export is reported with the line that imports it.
function instantiate(handle) {
  try {
    native.instantiateModule(handle);
  } catch (error) {
    const missing = /does not provide an export named '(.+)'$/.exec(error?.message);
    if (missing !== null && error instanceof SyntaxError) showImport(error, native.moduleUrl(handle), missing[1]);
    throw error;
  }
}

function showImport(error, url, name) {
  const lines = native.sourceOf(url)?.split(/\r?\n/) ?? [];
  const word = new RegExp(`(?<![\\w$])${name.replace(/\$/g, '\\$')}(?![\\w$])`);
  const index = lines.findIndex((line) => word.test(line));
  if (index === -1) return;
  const quoted = quote([url, index + 1, lines[index].search(word) + 1, name.length]);
  Object.defineProperty(error, 'stack', { value: `${quoted}${error.stack}`, writable: true, configurable: true });
  error[context.privateSymbols.decorated_private_symbol] = true;
}

function installCallbacks(symbols, kEvaluationPhase) {
  native.setImportMetaCallback((meta, _handle, url) => {
    const wrap = wrapFor(url) ?? { url, isMain: isMain(url) || EVALUATED.test(url) };
    const option = wrap[context.privateSymbols.host_defined_option_symbol] ?? symbols.source_text_module_default_hdo;
    if (option !== symbols.source_text_module_default_hdo) delete meta.url;
    context.initializeImportMeta(option, meta, wrap);
  });
  native.setImportCallback((specifier, attributes, referrer) => {
    const own = optionFor(referrer);
    const facade = attributes === undefined && own === undefined ? facades.get(specifier) : undefined;
    if (facade !== undefined) return facade.namespace;
    const isUrl = typeof referrer === 'string' && /^[a-z][a-z0-9+.-]+:/.test(referrer);
    const option = own ?? (isUrl ? symbols.source_text_module_default_hdo : symbols.vm_dynamic_import_default_internal);
    return context.importModuleDynamically(
      option,
      specifier,
      kEvaluationPhase,
      Object.assign({ __proto__: null }, attributes),
      referrer,
    );
  });
}

module.exports = { adaptResolveCache, instantiate, installCallbacks, link, prepareFacades };
