// Writes `dist/root`: the root folder that the image build serves, with the standard library, the
// bootstrap, and the bytecode of both. The guest itself compiles the bytecode, so the bytecode
// always fits the interpreter. The bytecode is never compared with its source (`unchecked-hash`),
// because the folder is read-only. pip is in a folder of its own. Next: dev-host.mjs, which runs
// the guest.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Worker } from 'node:worker_threads';
import { digest } from '../../runner/build/digest.mjs';
import { step } from '../../runner/build/progress.mjs';
import { bootstrapDir, distDir, LIBRARY, rootDir } from './paths.mjs';
import { BUNDLED } from './wheel.mjs';
import { readZones } from './zones.mjs';

/**
 * The folder of the time zones in the library. The variable TZPATH of `sysconfig` names the folder.
 */
const ZONES = 'zoneinfo/data';
const STAMP = '.digest';

/**
 * Writes the library again if an input has changed. Returns whether it was written.
 * @param {Map<string, string>} source  the patched source of CPython
 * @param {Buffer} wasm
 * @param {string} key  the digest of the module
 */
export async function stageLibrary(source, wasm, key) {
  const isStaged = (path) => path.startsWith(`Lib/${BUNDLED}/`) || /^Lib\/.*\.(?:py|txt|cfg|toml)$/.test(path);
  const modules = [...source].filter(([path]) => isStaged(path));
  const files = new Map([
    ...modules.map(([path, text]) => [`${LIBRARY}/${path.slice('Lib/'.length)}`, text]),
    [`${LIBRARY}/LICENSE.txt`, source.get('LICENSE')],
    ...readZones().map(([name, bytes]) => [`${LIBRARY}/${ZONES}/${name}`, bytes]),
    ...filesBelow(bootstrapDir).map((path) => [`${LIBRARY}/${relative(bootstrapDir, path)}`, readFileSync(path, 'utf8')]),
  ]);
  const stampText = digest([['module', key], ...files]);
  const stamp = join(distDir, `root${STAMP}`);
  if (existsSync(stamp) && existsSync(rootDir) && readFileSync(stamp, 'utf8') === stampText) return false;

  const temporary = join(distDir, `root.${process.pid}`);
  try {
    for (const [path, text] of files) {
      const target = join(temporary, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    await step('compiling the standard library', 'about 10 s', () => compileLibrary(wasm, temporary));
    rmSync(rootDir, { recursive: true, force: true });
    renameSync(temporary, rootDir);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  writeFileSync(stamp, stampText);
  return true;
}

/** Compiles all modules in a thread of its own, because the compiler needs a long stack. */
function compileLibrary(wasm, root) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('library-worker.mjs', import.meta.url), {
      workerData: { wasm, root },
      resourceLimits: { stackSizeMb: 200 },
    });
    worker.once('error', reject);
    worker.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the standard library could not be compiled: code ${code}`));
    });
  });
}

const filesBelow = (dir) =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.py'))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
