// Reads packages for the loaders (node_modules.cc), and makes the paths of `import.meta`. There is
// no compile cache. A compile cache helps programs that run often from a persistent disk. Our
// processes start from an image. Next: ../modules/packages.js.
'use strict';

const context = require('../context.js');
const { nearestPackage, packageScope, readPackage } = require('../modules/packages.js');

const COMPILE_CACHE_DISABLED = 3;
const TYPE = 2;

module.exports = function modules(binding) {
  binding.readPackageJSON = (path, _isESM, base, specifier) => readPackage(path, base, specifier);
  binding.getNearestParentPackageJSON = nearestPackage;
  binding.getNearestParentPackageJSONType = (path) => (path === undefined ? 'none' : (nearestPackage(path)?.[TYPE] ?? 'none'));
  binding.getPackageScopeConfig = packageScope;
  binding.getPackageType = (url) => {
    const scope = packageScope(url);
    return typeof scope === 'string' || scope[TYPE] === 'none' ? undefined : scope[TYPE];
  };
  binding.setLazyPathHelpers = (meta, url) => {
    const filename = () => context.requireBuiltin('internal/url').fileURLToPath(url);
    native.defineLazyProperty(meta, 'dirname', () => context.requireBuiltin('path').dirname(filename()));
    native.defineLazyProperty(meta, 'filename', filename);
  };
  binding.enableCompileCache = () => [COMPILE_CACHE_DISABLED];
  binding.getCompileCacheDir = () => undefined;
  binding.flushCompileCache = () => {};
  binding.getCompileCacheEntry = () => undefined;
};
