// The build of the Python guest. Makes `dist/python.wasm`, and the standard library below
// `dist/root`. Cached objects are used again. Run the script with `node
// packages/python/build/main.mjs`. Next: source.mjs finds CPython, compile.mjs compiles it, and
// library.mjs writes the library.
import { pathToFileURL } from 'node:url';
import { applyPatches, loadPatches } from '../../runner/build/patches/series.mjs';
import { say } from '../../runner/build/progress.mjs';
import { writeIfChanged } from '../../runner/build/write-if-changed.mjs';
import { compilePython } from './compile.mjs';
import { stageLibrary } from './library.mjs';
import { patchesDir, pythonPath } from './paths.mjs';
import { readSource } from './source.mjs';
import { withoutParents } from './units.mjs';

/** Makes `dist/python.wasm` and `dist/root/`. */
export async function buildPython() {
  const files = await readSource();
  // Almost all files are UTF-8. The others are data of codecs' tests, which the build does not
  // read.
  const source = new Map([...files].map(([path, bytes]) => [path, bytes.toString('utf8')]));
  applyPatches(source, loadPatches(patchesDir));
  for (const [path, text] of source) {
    if (/\.[ch]$/.test(path)) source.set(path, withoutParents(path, text));
  }
  const { wasm, key } = await compilePython(source);
  const isFresh = writeIfChanged(pythonPath, wasm);
  const isStaged = await stageLibrary(source, wasm, key);
  if (isFresh || isStaged)
    say(`python.wasm ${(wasm.length / 1024).toFixed(0)} KiB, library ${isStaged ? 'renewed' : 'unchanged'}`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await buildPython();
  } catch (error) {
    say(error.stack ?? String(error));
    process.exitCode = 1;
  }
}
