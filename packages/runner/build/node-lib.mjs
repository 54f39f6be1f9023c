// Extracts Node's own library from the binary of the pinned npm package.
// `process.binding('natives')` has every file of `lib/` as text, and the running binary prints the
// shapes of its bindings. The sources and the shapes are cached by Node's version, by the
// processor's architecture, and by the scripts that print them. Next: stage.mjs.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pinnedNode } from '@coldframe/pinned-node';
import { digest } from './digest.mjs';
import { cacheDir } from './paths.mjs';
import { step } from './progress.mjs';

const NODE_VERSION = '24.21.0';
const MAX_OUTPUT = 64 << 20;

/**
 * Returns the folder with `<id>.js`, `ids.json`, `config.json`, `shapes.json`, `locale.json` and
 * Node's LICENSE.
 */
export async function extractNodeLibrary() {
  const { binary, license } = findNode();
  const scripts = ['natives-dump.cjs', 'binding-shapes.cjs', 'locale-dump.cjs'].map((name) =>
    fileURLToPath(new URL(name, import.meta.url)),
  );
  const key = digest([
    ['node', NODE_VERSION],
    ['arch', process.arch],
    ...scripts.map((path) => [path.split('/').pop(), readFileSync(path)]),
  ]);
  const target = join(cacheDir, 'node-lib', `${NODE_VERSION}-${key.slice(0, 16)}`);
  if (existsSync(target)) return target;

  await step(`extracting the library of Node ${NODE_VERSION}`, 'about 1 s', async () => {
    const temporary = `${target}.${process.pid}`;
    mkdirSync(temporary, { recursive: true });
    run(binary, ['--no-deprecation', scripts[0], temporary]);
    writeFileSync(
      join(temporary, 'shapes.json'),
      run(binary, ['--no-warnings', '--no-deprecation', '--expose-internals', scripts[1]]),
    );
    writeFileSync(join(temporary, 'locale.json'), run(binary, [scripts[2]]));
    copyFileSync(license, join(temporary, 'LICENSE'));
    replaceFolder(temporary, target);
  });
  return target;
}

/** Returns the paths of the binary and of the licence in the pinned package for this machine. */
function findNode() {
  const { binary, version, license } = pinnedNode();
  if (version !== NODE_VERSION) throw new Error(`the pinned Node is ${version}; the guest is made for ${NODE_VERSION}`);
  return { binary, license };
}

/**
 * Runs the binary and returns its standard output. Removes the caller's NODE_OPTIONS, so that the
 * shapes are the shapes of a plain process.
 */
function run(binary, args) {
  const env = { ...process.env };
  delete env.NODE_OPTIONS;
  return execFileSync(binary, args, { env, maxBuffer: MAX_OUTPUT, stdio: ['ignore', 'pipe', 'inherit'] });
}

function replaceFolder(temporary, target) {
  try {
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    if (!existsSync(target)) throw error; // another build has written the folder first
  }
}
