// Collects the files that `build_file` reads while the image is made: `dist/inputs/bootstrap/...`
// and `dist/inputs/lib/...`. Next: the imager (packages/sidecar/crates/imager).
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { digest } from './digest.mjs';
import { extractNodeLibrary } from './node-lib.mjs';
import { bootstrapDir, distDir, inputsDir } from './paths.mjs';
import { checkSurface } from './surface.mjs';
import { readTypeScriptParser } from './typescript-parser.mjs';

const STAMP = '.digest';

/** Writes `dist/inputs/` again if an input has changed. Returns whether the folder was written. */
export async function stageInputs() {
  const library = await extractNodeLibrary();
  checkSurface(JSON.parse(readFileSync(join(library, 'shapes.json'), 'utf8')));
  const bootstrap = filesBelow(bootstrapDir).map((path) => [relative(bootstrapDir, path), readFileSync(path)]);
  const parser = readTypeScriptParser();
  const key = digest([['lib', library], ['parser', parser], ...bootstrap]);
  const stamp = join(inputsDir, STAMP);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === key) return false;

  const temporary = join(distDir, `inputs.${process.pid}`);
  mkdirSync(temporary, { recursive: true });
  cpSync(library, join(temporary, 'lib'), { recursive: true });
  cpSync(bootstrapDir, join(temporary, 'bootstrap'), { recursive: true });
  writeFileSync(join(temporary, 'lib', 'typescript-parser.js'), parser);
  writeFileSync(join(temporary, STAMP), key);
  rmSync(inputsDir, { recursive: true, force: true });
  renameSync(temporary, inputsDir);
  return true;
}

function filesBelow(dir) {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}
