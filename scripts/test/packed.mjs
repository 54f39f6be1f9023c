// The tarballs of the published packages, for tests. The tarballs are in the folder that
// `COLDFRAME_PACKAGES` names, or are packed from the built files when those have changed.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withLock } from '../build/lock.mjs';
import { stateDir } from '../build/paths.mjs';
import { dropStamp, saveStamp, staleReason, takeInputs } from '../build/stamp.mjs';
import { MAIN } from '../pack/stage.mjs';
import { packAll } from '../pack.mjs';

const FOLDER = '.build/packages-for-tests';

const step = {
  name: 'packages-for-tests',
  key: `${process.platform}-${process.arch} ${process.version}`,
  inputs: [
    ...MAIN.flatMap((name) => [`packages/${name}/dist`, `packages/${name}/package.json`]),
    ...MAIN.map((name) => `packages/${name}/README.md`),
    ...['LICENSE', 'NOTICE', 'scripts/pack', 'scripts/pack.mjs'],
  ],
  skip: ['inputs', 'shell-inputs'],
  outputs: [FOLDER],
};

async function pack() {
  const out = join(stateDir, 'packages-for-tests');
  await withLock(
    async () => {
      if (staleReason(step) === undefined) return;
      dropStamp(step);
      rmSync(out, { recursive: true, force: true });
      mkdirSync(out, { recursive: true });
      const inputs = takeInputs(step);
      await packAll({ out });
      saveStamp(step, inputs);
    },
    () => {},
    join(stateDir, 'packages-for-tests.lock'),
  );
  return out;
}

const tar = (...args) => execFileSync('tar', args, { encoding: 'utf8', maxBuffer: 1 << 26 });

/** Lists the entries of a tarball: `path`, `size`, `mode` as `tar` prints it, and `modified`. */
function entriesOf(path) {
  return tar('--utc', '--full-time', '-tvzf', path)
    .trim()
    .split('\n')
    .map((line) => line.split(/\s+/))
    .map(([mode, owner, size, day, time, name]) => ({
      path: name.replace('package/', ''),
      size: Number(size),
      mode,
      owner,
      modified: `${day} ${time}`,
    }));
}

/** Returns all packed packages: `path`, `manifest` and `entries` of each tarball. */
export async function packedPackages() {
  const given = process.env.COLDFRAME_PACKAGES;
  const folder = given ? resolve(given) : await pack();
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => join(folder, name))
    .map((path) => ({
      path,
      manifest: JSON.parse(tar('-xOzf', path, 'package/package.json')),
      entries: entriesOf(path),
    }));
}
