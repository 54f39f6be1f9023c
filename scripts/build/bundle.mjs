// Bundles the compiled modules of a package into one module. Node needs many times longer to load a
// hundred modules than to load one module of their total size.
//
// The modules of other packages are not bundled. esbuild is a dependency of the runner's build,
// which bundles the shell.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fromRoot } from './paths.mjs';

/** The import of a module of the same package at run time. */
const LATER_IMPORT = /\bimport\('(\.[^']+)'\)/g;

/**
 * Makes imports at run time static. For imports at run time, esbuild would put each module into a
 * function, and Node would parse the functions twice.
 */
function importAtOnce(text) {
  const imports = [];
  const contents = text.replace(LATER_IMPORT, (_, path) => {
    imports.push(`import * as later${imports.length} from '${path}';`);
    return `Promise.resolve(later${imports.length - 1})`;
  });
  return [...imports, contents].join('\n');
}

const staticImports = {
  name: 'static imports',
  setup: ({ onLoad }) => onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: importAtOnce(readFileSync(path, 'utf8')) })),
};

/** Replaces the module at `entry` with a module that contains all modules of its package. */
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
    plugins: [staticImports],
    logLevel: 'warning',
  });
}
