// Measures the time from an empty folder to the first output: an installation by npm from the
// tarballs, and a first program. Packs the built files first. npm downloads the packages of other
// authors from its configured registry, or takes them from its cache.
//
//   node scripts/pack/first-output.mjs [rounds]

import { execFile } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packedPackages } from '../test/packed.mjs';
import { startRegistry } from '../test/registry.mjs';

const runFile = promisify(execFile);

const PROGRAM = `import { NodeRuntime } from 'coldframe';
const runtime = await NodeRuntime.create();
process.stdout.write((await runtime.exec('console.log(6 * 7)')).stdout);
await runtime.dispose();`;

const sizeOf = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => lstatSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);

async function timed(work) {
  const begin = performance.now();
  const result = await work();
  return { ms: Math.round(performance.now() - begin), result };
}

async function measure(folder, sdk, registry) {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  writeFileSync(join(folder, '.npmrc'), `@coldframe:registry=${registry.url}/\n`);
  writeFileSync(join(folder, 'app.mjs'), PROGRAM);
  const install = await timed(() => runFile('npm', ['install', '--no-audit', '--no-fund', sdk], { cwd: folder }));
  const start = () => timed(() => runFile(process.execPath, ['app.mjs'], { cwd: folder }));
  const [first, second] = [await start(), await start()];
  if (first.result.stdout !== '42\n') throw new Error(`expected 42, received ${first.result.stdout}`);
  const installedBytes = sizeOf(join(folder, 'node_modules'));
  return { installMs: install.ms, firstMs: first.ms, secondMs: second.ms, totalMs: install.ms + first.ms, installedBytes };
}

const packages = await packedPackages();
const sdk = packages.find(({ manifest }) => manifest.name === 'coldframe').path;
const registry = await startRegistry(packages);
const root = mkdtempSync(join(tmpdir(), 'coldframe-first-output-'));
try {
  for (let round = 0; round < Number(process.argv[2] ?? 3); round++) {
    process.stdout.write(`${JSON.stringify(await measure(join(root, String(round)), sdk, registry))}\n`);
  }
} finally {
  await registry.close();
  rmSync(root, { recursive: true, force: true });
}
