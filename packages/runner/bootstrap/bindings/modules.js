// What: reading `package.json` for the loaders (node_modules.cc). The guest has no filesystem yet: there is none to find, which is what Node's
// loaders are told; their own messages (`Cannot find package …`) follow from that.
'use strict';

const context = require('../context.js');

const DISABLED = 3;

module.exports = function modules(binding) {
  binding.readPackageJSON = () => undefined;
  binding.getNearestParentPackageJSON = () => undefined;
  binding.getNearestParentPackageJSONType = () => 'none';
  binding.getPackageScopeConfig = () => '/package.json';
  binding.getPackageType = () => undefined;
  // `import.meta.dirname` and `filename`.
  binding.setLazyPathHelpers = (meta, url) => {
    const filename = () => context.requireBuiltin('internal/url').fileURLToPath(url);
    native.defineLazyProperty(meta, 'dirname', () => context.requireBuiltin('path').dirname(filename()));
    native.defineLazyProperty(meta, 'filename', filename);
  };
  binding.enableCompileCache = () => [DISABLED];
  binding.getCompileCacheDir = () => undefined;
  binding.flushCompileCache = () => {};
  binding.getCompileCacheEntry = () => undefined;
};
