// Bundles the compiled modules of a package into one module. Node needs many times longer to load a
// hundred modules than to load one module of their total size.
//
// The modules of other packages are not bundled, except the parts of zod that convert schemas.
// These parts become a separate module, which is loaded at its first use. esbuild is a dependency
// of the runner's build, which bundles the shell.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fromRoot } from './paths.mjs';

/** The module that is bundled with the packages that it imports. */
const SEPARATE = 'zod-json-schema.js';

/** The import of a module of the same package at run time. */
const LATER_IMPORT = /\bimport\('(\.[^']+)'\)/g;

/**
 * Makes imports at run time static. For imports at run time, esbuild would put each module into a
 * function, and Node would parse the functions twice.
 */
function importAtOnce(text) {
  const imports = [];
  const contents = text.replace(LATER_IMPORT, (expression, path) => {
    if (path.endsWith(SEPARATE)) return expression;
    imports.push(`import * as later${imports.length} from '${path}';`);
    return `Promise.resolve(later${imports.length - 1})`;
  });
  return [...imports, contents].join('\n');
}

const staticImports = {
  name: 'static imports',
  setup: ({ onLoad }) => onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: importAtOnce(readFileSync(path, 'utf8')) })),
};

/** The bundle imports the separate module from its own folder. */
const separateModule = {
  name: 'separate module',
  setup: ({ onResolve }) => onResolve({ filter: /\/zod-json-schema\.js$/ }, () => ({ path: `./${SEPARATE}`, external: true })),
};

/**
 * Replaces `FOLDER/index.js` with a module that contains all modules of its package, and writes the
 * separate module.
 */
export async function bundle(folder) {
  const { build } = createRequire(fromRoot('packages/runner/package.json'))('esbuild');
  const common = { bundle: true, platform: 'node', format: 'esm', target: 'node20.11', logLevel: 'warning' };
  const entry = join(folder, 'index.js');
  await build({
    ...common,
    entryPoints: [entry],
    outfile: entry,
    allowOverwrite: true,
    packages: 'external',
    // esbuild renames some classes. Their names are part of messages and of printed objects.
    keepNames: true,
    plugins: [staticImports, separateModule],
  });
  await build({
    ...common,
    entryPoints: [join(folder, 'bindings', SEPARATE)],
    outfile: join(folder, SEPARATE),
    absWorkingDir: fromRoot('packages/sdk'),
    // zod does not mark all of its modules as free of side effects.
    treeShaking: true,
  });
}
