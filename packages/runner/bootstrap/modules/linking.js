// Resolves and links the program's imports. This file links a program that imports only builtins to
// the facades that start-up/preload.js made. Node's own ES module loader links any other program,
// with Node's resolution and Node's messages. Node's loader is not used for every program. The
// loader costs tens of microseconds per run, and most programs import builtins or nothing. A
// program without imports never calls this file. Next: internal-bindings/module_wrap.js, through
// which Node's loader works; event-loop/hooks.js registers `link`.
'use strict';

const context = require('../context.js');
const { isMain, optionFor, wrapFor } = require('./referrers.js');
const cell = require('../program/cell.js');
const { quote } = require('../errors/source-lines.js');
const { leaveImage } = require('../tls/roots.js');

// The shim's name for a program without a file.
const EVALUATED = /\/\[eval\d+\]$/;
const RESIDENT = 2;

// Specifier → { handle, namespace } of the public builtins in the image, with and without `node:`.
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
  // The facade of `tls` has read the list of authorities.
  leaveImage();
}

// Node's loader caches the resolution of specifiers by the URL of the importing module. In a runner
// each snippet would add an entry, so entries of snippets are not kept. The resolution depends on
// the importing module's folder and not on the module's name. A file that many modules of a folder
// import is therefore resolved once. Resolving took half of the time for loading a thousand small
// files.
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

// Returns the URL of a module's folder, with a slash at the end. Returns undefined for a URL that
// is no file, or that has a query or a fragment, which may contain slashes.
function folderOf(url) {
  const { StringPrototypeIncludes, StringPrototypeLastIndexOf, StringPrototypeSlice, StringPrototypeStartsWith } =
    context.primordials;
  if (typeof url !== 'string' || !StringPrototypeStartsWith(url, 'file:')) return undefined;
  if (StringPrototypeIncludes(url, '?') || StringPrototypeIncludes(url, '#')) return undefined;
  return StringPrototypeSlice(url, 0, StringPrototypeLastIndexOf(url, '/') + 1);
}

// Implements the shim's `link` hook. Returns a promise that settles when the program's module ends.
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
  // Node's loader keeps each module by its URL. No module can import the evaluated module, and a
  // runner evaluates any number of modules. The entry is therefore deleted. The loader's own
  // `delete` would keep the name.
  context.primordials.MapPrototypeDelete(loader.loadCache, url);
  return done;
}

// Instantiates a module. The error of a missing export quotes the line that imports the name.
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

// Adds the object of the running cell to `import.meta` of the cell's module.
function addCell(meta) {
  const value = cell.meta();
  if (value !== undefined) Object.defineProperty(meta, 'cell', { value, enumerable: false });
}

function installCallbacks(symbols, kEvaluationPhase) {
  native.setImportMetaCallback((meta, _handle, url) => {
    if (EVALUATED.test(url)) addCell(meta);
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
