// Builds the engine without our patches as a WebAssembly module, with the guest's toolchain, for
// comparison with the patched engine. Only tests need the module. The object files are cached like
// the guest's. Run the script with `node packages/runner/build/reference.mjs`.
import { pathToFileURL } from 'node:url';
import { compileReference } from './compile.mjs';
import { say } from './progress.mjs';
import { readEngineFiles } from './sources.mjs';

/** @returns {Promise<Buffer>} the module */
export async function buildReference() {
  return (await compileReference(readEngineFiles())).wasm;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  say(`reference.wasm ${((await buildReference()).length / 1024).toFixed(0)} KiB`);
}
