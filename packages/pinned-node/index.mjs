// Finds the pinned release of Node. The guest image contains the library of this release, and tests
// and benchmarks compare the sandbox with this release.
//
// The package is private: a published package that depended on Node would install 120 MB and put
// another `node` in front of the user's.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * Returns the path of the binary, its version, and the path of its licence.
 * @throws when the package is not installed, or does not exist for the processor of this machine.
 */
export function pinnedNode() {
  const name = `node-linux-${process.arch}`;
  let manifest;
  try {
    manifest = require.resolve(`${name}/package.json`);
  } catch (cause) {
    throw new Error(`the package ${name} is not installed; it is an optional dependency of packages/pinned-node`, { cause });
  }
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  const folder = dirname(manifest);
  return { binary: join(folder, 'bin', 'node'), version, license: join(folder, 'LICENSE') };
}
