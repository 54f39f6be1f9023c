// Finds the folders that a crate of the workspace is compiled from: the crate's own folder, and the
// folders of its dependencies in the workspace.

import { existsSync, readFileSync } from 'node:fs';
import { fromRoot } from './paths.mjs';

const folderOf = (name) => `packages/sidecar/crates/${name.replace(/^coldframe-/, '')}`;

function neighbours(name) {
  const path = fromRoot(folderOf(name), 'Cargo.toml');
  // A missing crate is skipped, because cargo's own message is clearer.
  const manifest = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return [...manifest.matchAll(/^(coldframe-[a-z]+)\b/gm)].map(([, dependency]) => dependency);
}

/**
 * Returns the folders of the crates `names` and of their dependencies, and the files of the
 * workspace.
 */
export function crateInputs(names) {
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    found.add(name);
    neighbours(name).forEach(visit);
  };
  names.forEach(visit);
  return [...found].map(folderOf).concat('packages/sidecar/Cargo.toml', 'packages/sidecar/Cargo.lock');
}
