// Finds the folders that a crate of the workspace is compiled from: its own and those of the workspace's crates it depends on.

import { existsSync, readFileSync } from 'node:fs';
import { fromRoot } from './paths.mjs';

const folderOf = (name) => `packages/sidecar/crates/${name.replace(/^coldframe-/, '')}`;

function neighbours(name) {
  const path = fromRoot(folderOf(name), 'Cargo.toml');
  const manifest = existsSync(path) ? readFileSync(path, 'utf8') : ''; // of a crate that is not there, cargo tells more
  return [...manifest.matchAll(/^(coldframe-[a-z]+)\b/gm)].map(([, dependency]) => dependency);
}

/** Folders of the crates `names` and of all that they need from this workspace, and the files that hold for all crates. */
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
