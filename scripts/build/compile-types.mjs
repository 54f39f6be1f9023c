// Compiles one TypeScript package into its `dist/`, and bundles the entry points of the SDK.
//
// The compiler writes to a folder next to `dist/` first, and each file is renamed into place. A
// program that runs from `dist/` meanwhile reads complete files. Files without a source are
// removed.

import { rmSync } from 'node:fs';
import { bundle } from './bundle.mjs';
import { listFiles } from './inputs.mjs';
import { fromRoot } from './paths.mjs';
import { placeFile } from './place.mjs';
import { run } from './run.mjs';

const COMPILED = /\.(js|d\.ts|js\.map)$/;

const tsc = () => fromRoot('node_modules/typescript/bin/tsc');

/**
 * Lists the compiler's outputs in a package's `dist/`. The excluded folders have JavaScript that is
 * an input of the images, the bundle of a web page, or Python's library.
 */
export const compiledFiles = (folder) =>
  listFiles([`${folder}/dist`], ['inputs', 'shell-inputs', 'ui', 'root']).filter((path) => COMPILED.test(path));

/**
 * Compiles the package in `folder`. `bundles` has the entry points that are bundled (bundle.mjs).
 * The single modules are then placed too, for tests.
 */
export async function compileTypes(folder, { bundles } = {}) {
  const fresh = `${folder}/.tsc`;
  rmSync(fromRoot(fresh), { recursive: true, force: true });
  try {
    await run(process.execPath, [tsc(), '-p', `${folder}/tsconfig.json`, '--outDir', fresh, '--pretty', 'false']);
    if (bundles) await bundle(fromRoot(fresh), { manifest: fromRoot(folder, 'package.json'), ...bundles });
    const wanted = new Set(listFiles([fresh]).map((path) => path.slice(fresh.length + 1)));
    for (const path of wanted) placeFile(fromRoot(fresh, path), fromRoot(folder, 'dist', path));
    for (const path of compiledFiles(folder)) {
      if (!wanted.has(path.slice(`${folder}/dist/`.length))) rmSync(fromRoot(path));
    }
  } finally {
    rmSync(fromRoot(fresh), { recursive: true, force: true });
  }
}
