// Bundles the compiled modules of a package into few modules for each entry point. Node needs many
// times longer to load a hundred modules than to load one module of their total size.
//
// The modules in `chunks/` are loaded at their first use, or are shared by bundles. The other entry
// points import the main entry point by the name of the package.
//
// The packages of `dependencies` are not bundled. Packages of `devDependencies` are. esbuild is a
// dependency of the runner's build, which bundles the shell.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { removeNeedlessNames } from './needless-names.mjs';
import { fromRoot } from './paths.mjs';

/** The folder of the modules that are no entry points. */
const CHUNKS = 'chunks';

/**
 * The parts of zod that convert schemas. They are a bundle of their own beside the chunks. In a
 * common bundle, esbuild would make one more chunk, of its own helpers.
 */
const SEPARATE = 'zod-json-schema.js';

/**
 * The modules that the main entry point loads at their first use: the parts of runtimes, and the
 * separate module.
 */
const LATER = ['parts.js', SEPARATE];

/** The entry points whose bundles are minified: most of their text is from other packages. */
const MINIFIED = ['command', 'mcp'];

/**
 * Modules whose exports an entry point of the package has. An app therefore has each class once,
 * and the package has each module once.
 */
const EXPORTED = { 'index.js': '', 'errors/error.js': '', 'mcp/index.js': '/mcp' };

/** The import of a module of the same package at run time. */
const LATER_IMPORT = /\bimport\('(\.[^']+)'\)/g;

/**
 * Makes imports at run time static, except imports of `LATER`. With each further exception, esbuild
 * would make several chunks of the modules that are loaded at once, and Node needs longer to load
 * several chunks.
 */
function importAtOnce(text) {
  const imports = [];
  const contents = text.replace(LATER_IMPORT, (expression, path) => {
    if (LATER.includes(basename(path))) return expression;
    imports.push(`import * as later${imports.length} from '${path}';`);
    return `Promise.resolve(later${imports.length - 1})`;
  });
  return [...imports, contents].join('\n');
}

const staticImports = (folder) => ({
  name: 'static imports',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.js$/ }, ({ path }) =>
      path.startsWith(join(folder, '/')) ? { contents: importAtOnce(readFileSync(path, 'utf8')) } : undefined,
    ),
});

/** A chunk of the main entry point imports the separate module from its own folder. */
const separateModule = {
  name: 'separate module',
  setup: ({ onResolve }) => onResolve({ filter: /\/zod-json-schema\.js$/ }, () => ({ path: `./${SEPARATE}`, external: true })),
};

/** Replaces imports of modules that the package exports with imports of the package. */
const importPackage = (folder, name) => ({
  name: 'import of the package',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const entry = EXPORTED[relative(folder, resolve(resolveDir, path))];
      return entry === undefined ? undefined : { path: `${name}${entry}`, external: true };
    }),
});

/** Returns a comment that names the packages that a bundle contains, for NOTICE. */
function contained({ inputs }) {
  const names = Object.keys(inputs).flatMap((path) => /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return names.length === 0 ? '' : `// Contains ${[...new Set(names)].sort().join(', ')}\n`;
}

/**
 * Bundles the modules in `folder`, the compiled package of `manifest`. `entries` has the module of
 * each entry point by the name of the bundle. `index` is the main entry point.
 */
export async function bundle(folder, { manifest, entries }) {
  const { build } = createRequire(fromRoot('packages/runner/package.json'))('esbuild');
  const { name, dependencies = {} } = JSON.parse(readFileSync(manifest, 'utf8'));
  const outputs = [];
  for (const [out, module] of Object.entries(entries)) {
    const isMain = out === 'index';
    const { outputFiles, metafile } = await build({
      entryPoints: [{ out, in: join(folder, module) }],
      outdir: folder,
      write: false,
      metafile: true,
      bundle: true,
      minify: MINIFIED.includes(out),
      splitting: true,
      chunkNames: `${CHUNKS}/[name]-[hash]`,
      external: Object.keys(dependencies).flatMap((dependency) => [dependency, `${dependency}/*`]),
      nodePaths: [join(dirname(manifest), 'node_modules')],
      platform: 'node',
      format: 'esm',
      target: 'node20.11',
      // esbuild renames some classes. Their names are part of messages and of printed objects.
      keepNames: true,
      plugins: isMain ? [staticImports(folder), separateModule] : [importPackage(folder, name)],
      // zod does not mark all of its modules as free of side effects.
      treeShaking: true,
      logLevel: 'warning',
    });
    const made = new Map(Object.entries(metafile.outputs).map(([path, output]) => [resolve(path), output]));
    for (const { path, text } of outputFiles) {
      // A minified bundle has another name for the function that keeps names.
      const named = MINIFIED.includes(out) ? text : removeNeedlessNames(text);
      outputs.push({ path, text: named + contained(made.get(path)) });
    }
  }
  for (const { path, text } of outputs) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}
