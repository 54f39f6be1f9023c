// `pnpm pack:all`: writes the tarballs of all packages that this machine can build into one folder.
// The tarballs are ready for publishing. `--help` prints the options.
//
// npm writes the tarballs, with fixed times and owners. So equal files make equal tarballs with one
// release of npm and Node.

import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BuildFailure } from './build/failure.mjs';
import { fromRoot, stateDir } from './build/paths.mjs';
import { run } from './build/run.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { packagesFor, stage } from './pack/stage.mjs';

const HELP = `pnpm pack:all [options]   packs all packages that this machine can build
  --out DIR     the folder of the tarballs; by default .build/packages
  --only NAME   packs only this package; may be given several times
  --no-build    packs the built files as they are
  --json        prints the packages as JSON on stdout
`;

/** Packs the staged folder. Returns the name, the path, the sizes and the files of the tarball. */
async function packFolder(folder, out) {
  const lines = await run('npm', ['pack', folder, '--json', '--ignore-scripts', '--pack-destination', out]);
  const [{ name, filename, size, unpackedSize, integrity, files }] = JSON.parse(lines.join('\n'));
  return {
    name,
    // npm before version 9 prints the name of a scoped package with `@` and `/`.
    path: join(out, filename.replace('@', '').replace('/', '-')),
    size,
    unpackedSize,
    integrity,
    files: files.map(({ path, size, mode }) => ({ path, size, mode })),
  };
}

/** Packs all packages, or the packages named in `only`, into the folder `out`. */
export async function packAll({ out = join(stateDir, 'packages'), only = [] } = {}) {
  // Built by the step `sidecar`.
  const { thisMachine } = await import('../packages/sidecar/dist/platform.js');
  const packages = packagesFor(thisMachine());
  const unknown = only.find((name) => !packages.some((each) => each.name === name));
  if (unknown) {
    throw new BuildFailure(`--only: expected one of ${packages.map(({ name }) => name).join(', ')}, received ${unknown}`);
  }
  const staging = join(stateDir, `staging-${process.pid}`);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  try {
    const packed = [];
    for (const each of packages.filter(({ name }) => only.length === 0 || only.includes(name))) {
      packed.push(await packFolder(stage(each, staging), out));
    }
    return packed;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(2)} MB`.padStart(10);

function table(packed) {
  const sum = (key) => packed.reduce((total, each) => total + each[key], 0);
  const row = (name, size, unpacked) => `${name.padEnd(36)}${megabytes(size)}${megabytes(unpacked)}\n`;
  const rows = packed.map(({ name, size, unpackedSize }) => row(name, size, unpackedSize));
  const head = `${''.padEnd(36)}${'tarball'.padStart(10)}${'unpacked'.padStart(10)}\n`;
  return [head, ...rows, row('together', sum('size'), sum('unpackedSize'))].join('');
}

async function main() {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean' },
      json: { type: 'boolean' },
      'no-build': { type: 'boolean' },
      only: { type: 'string', multiple: true },
      out: { type: 'string' },
    },
  });
  if (values.help) return process.stdout.write(HELP);
  if (!values['no-build']) await ensureBuilt();
  const out = values.out === undefined ? fromRoot('.build/packages') : resolve(values.out);
  const packed = await packAll({ out, only: values.only });
  process.stderr.write(`${table(packed)}${packed.length} tarballs in ${out}\n`);
  if (values.json) process.stdout.write(`${JSON.stringify(packed, null, 2)}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
