// `pnpm release:version`: raises the versions by the changesets, and writes the version of the
// packages into the other files that contain it. All packages and crates have one version.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromRoot, root } from '../build/paths.mjs';
import { run } from '../build/run.mjs';
import { runMain } from '../build.mjs';

/** The files that contain the version, each with the text before and after the version. */
const PLACES = [
  { path: 'packages/sdk/src/version.ts', pattern: /(export const VERSION = ')[^']+(')/ },
  { path: 'packages/sidecar/Cargo.toml', pattern: /(\[workspace\.package\]\nversion = ")[^"]+(")/ },
];

/** Returns `text` with `version` at the place of `pattern`. Throws if the place does not exist. */
export function withVersion(text, pattern, version) {
  if (!pattern.test(text)) throw new Error(`expected a version at ${pattern}`);
  return text.replace(pattern, `$1${version}$2`);
}

/** Returns the text of a Cargo.lock with `version` for the crates of the workspace. */
export const withCrateVersions = (lock, version) =>
  lock.replace(/(\[\[package\]\]\nname = "coldframe-[^"]+"\nversion = ")[^"]+(")/g, `$1${version}$2`);

function rewrite(path, change) {
  const file = fromRoot(path);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

async function main() {
  await run(`${root}/node_modules/.bin/changeset`, ['version'], { onLine: (line) => process.stdout.write(`${line}\n`) });
  const { version } = JSON.parse(readFileSync(fromRoot('packages/sdk/package.json'), 'utf8'));
  for (const { path, pattern } of PLACES) rewrite(path, (text) => withVersion(text, pattern, version));
  rewrite('packages/sidecar/Cargo.lock', (text) => withCrateVersions(text, version));
  process.stdout.write(`version ${version}: move the entries of "Unreleased" in CHANGELOG.md below this version\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await runMain(main);
