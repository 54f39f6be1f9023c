// Paths of the build: the repository, the stamps of earlier builds, cargo's target folder.
//
// Cargo's output is outside the checkout, in the user's cache, so that a fresh clone of the same
// sources compiles nothing again. `CARGO_TARGET_DIR` overrides the folder, as for cargo itself.

import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const stateDir = join(root, '.build');

export const cargoManifest = join(root, 'packages/sidecar/Cargo.toml');

export const cargoTargetDir =
  process.env.CARGO_TARGET_DIR || join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'coldframe', 'target');

export const fromRoot = (...parts) => join(root, ...parts);
