// Builds the sidecar and the addon with the stand-in of the tests: named places that panic on
// demand (`crates/panics/src/stand_in.rs`). A release does not contain the stand-in.

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** The features and the profile of the Rust tests, so that cargo compiles little. */
const BUILD = [
  'build',
  '--locked',
  '--workspace',
  '--lib',
  '--bins',
  '--features',
  'coldframe-sidecar/stand-in',
  '--message-format',
  'json',
];

/** The time limit of a build that compiles all dependencies. */
export const LONGEST_BUILD_MS = 30 * 60_000;

/**
 * Builds the native halves, and sets the environment variables so that the SDK uses them. Returns
 * the variables.
 */
export function useStandIn(): Record<string, string> {
  const lines = execFileSync(process.execPath, ['scripts/cargo.mjs', ...BUILD], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const files = lines
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .flatMap((line) => (JSON.parse(line) as { filenames?: string[] }).filenames ?? []);
  const folder = join(ROOT, '.build/stand-in');
  mkdirSync(folder, { recursive: true });
  const place = (built: string, name: string): string => {
    const file = files.find((path) => basename(path) === built);
    if (!file) throw new Error(`cargo has not built ${built}`);
    const placed = join(folder, name);
    copyFileSync(file, placed);
    return placed;
  };
  const environment = {
    COLDFRAME_SIDECAR: place('coldframe-sidecar', 'coldframe-sidecar'),
    COLDFRAME_ADDON: place('libcoldframe_node.so', 'coldframe.node'),
  };
  Object.assign(process.env, environment);
  return environment;
}
