// Bundles the compiled modules of a package into one module. Node needs many times longer to load a
// hundred modules than to load one module of their total size.
//
// The modules of other packages are not bundled. esbuild is a dependency of the runner's build,
// which bundles the shell.

import { createRequire } from 'node:module';
import { fromRoot } from './paths.mjs';

/**
 * Replaces the module at `entry` with a module that contains all modules of its package. The bundle
 * also contains the modules that the package imports later. These modules are evaluated later.
 */
export async function bundle(entry) {
  const { build } = createRequire(fromRoot('packages/runner/package.json'))('esbuild');
  await build({
    entryPoints: [entry],
    outfile: entry,
    allowOverwrite: true,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.11',
    // esbuild renames some classes. Their names are part of messages and of printed objects.
    keepNames: true,
    logLevel: 'warning',
  });
}
