// The guest's part of the build. Makes guest.wasm from the engine's sources and patches, and the
// folder of build inputs that `build_file` reads while the image is made. Cached objects are used
// again, and a file that would not change is not written. Run the script with `node
// packages/runner/build/guest.mjs`. Next: compile.mjs and stage.mjs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { compileGuest } from './compile.mjs';
import { applyPatches, loadPatches } from './patches/series.mjs';
import { distDir, guestPath } from './paths.mjs';
import { say } from './progress.mjs';
import { buildShell } from './shell.mjs';
import { readEngineFiles } from './sources.mjs';
import { stageInputs } from './stage.mjs';

/** Makes `dist/guest.wasm`, `dist/inputs/` and `dist/shell-inputs/`. */
export async function buildGuest() {
  const engine = applyPatches(readEngineFiles(), loadPatches());
  const { wasm } = await compileGuest(engine);
  const fresh = writeIfChanged(guestPath, wasm);
  const staged = await stageInputs();
  await buildShell();
  if (fresh || staged) say(`guest.wasm ${(wasm.length / 1024).toFixed(0)} KiB, inputs ${staged ? 'renewed' : 'unchanged'}`);
}

/**
 * Writes a file and returns true. Keeps an identical file, so that its dependents stay up to date,
 * and returns false.
 */
function writeIfChanged(path, bytes) {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return false;
  mkdirSync(distDir, { recursive: true });
  writeFileSync(path, bytes);
  return true;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await buildGuest();
  } catch (error) {
    say(error.stack ?? String(error));
    process.exitCode = 1;
  }
}
