// The guest's part of the build. Makes guest.wasm from the engine's sources and patches, and the
// folder of build inputs that `build_file` reads while the image is made. Cached objects are used
// again, and a file that would not change is not written. Run the script with `node
// packages/runner/build/guest.mjs`. With `--sanitize`, the script makes only the module with checks
// for undefined behaviour (docs/security-testing.md). With `--sanitize --continue`, a guest reports
// each place once and continues. Next: compile.mjs and stage.mjs.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileGuest } from './compile.mjs';
import { applyPatches, loadPatches } from './patches/series.mjs';
import { guestPath, sanitizedDir } from './paths.mjs';
import { say } from './progress.mjs';
import { buildShell } from './shell.mjs';
import { readEngineFiles } from './sources.mjs';
import { stageInputs } from './stage.mjs';
import { writeIfChanged } from './write-if-changed.mjs';

const readPatchedEngine = () => applyPatches(readEngineFiles(), loadPatches());

/** Makes `dist/guest.wasm`, `dist/inputs/` and `dist/shell-inputs/`. */
export async function buildGuest() {
  const { wasm } = await compileGuest(readPatchedEngine());
  const fresh = writeIfChanged(guestPath, wasm);
  const staged = await stageInputs();
  await buildShell();
  if (fresh || staged) say(`guest.wasm ${(wasm.length / 1024).toFixed(0)} KiB, inputs ${staged ? 'renewed' : 'unchanged'}`);
}

/** Makes `.build/sanitized/guest.wasm`. Its images have the inputs of the guest's images. */
async function buildSanitizedGuest(continues) {
  const { wasm } = await compileGuest(readPatchedEngine(), { sanitize: true, continues });
  if (writeIfChanged(join(sanitizedDir, 'guest.wasm'), wasm)) say(`sanitized guest.wasm ${(wasm.length / 1024).toFixed(0)} KiB`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await (process.argv.includes('--sanitize') ? buildSanitizedGuest(process.argv.includes('--continue')) : buildGuest());
  } catch (error) {
    say(error.stack ?? String(error));
    process.exitCode = 1;
  }
}
