// Selects the files that run. Reads the flags of their `// Flags:` lines, and detects files that
// start other processes.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BuildFailure } from '../build/failure.mjs';
import { GROUPS, groupOf } from './groups.mjs';

/**
 * Matches a file that starts processes, with Node's modules or through the helpers of Node's tests.
 */
const STARTS_PROCESSES =
  /require\(['"](?:node:)?(?:child_process|cluster)['"]\)|from ['"](?:node:)?(?:child_process|cluster)['"]|common\/child_process|spawnPromisified/;

const digest = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 24);
};

/** Returns the flags of all `// Flags:` lines, as Node's own test runner reads them. */
export function flagsOf(source) {
  const lines = source.matchAll(/^\/\/ Flags:(.*)$/gm);
  return [...lines].flatMap(([, flags]) => flags.trim().split(/\s+/)).filter(Boolean);
}

/**
 * Returns whether a filter selects the file: `fs` selects a group, and `fs-read` selects every file
 * whose name contains that text. Without filters, the groups in GROUPS are selected.
 */
export function chosen(name, filters) {
  const group = groupOf(name);
  if (group === undefined || !/\.m?js$/.test(name)) return false;
  if (filters.length === 0) return GROUPS.includes(group);
  return filters.some((filter) => (/^[a-z0-9]+$/.test(filter) ? group === filter : name.includes(filter)));
}

const VERSION = /^#define NODE_(MAJOR|MINOR|PATCH)_VERSION (\d+)$/gm;

/**
 * Returns `{ version, digest }` of a folder of tests, for the report. The version is `version`, or
 * else the version of Node's sources around the folder. The digest changes with every test and
 * every helper, so a comparison of two digests shows whether two runs had equal tests.
 */
export function originOf(folder, version) {
  const hash = createHash('sha256');
  for (const part of ['common', 'parallel']) {
    const entries = readdirSync(join(folder, part), { withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { name } of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      hash.update(`${part}/${name}\0`).update(
        createHash('sha256')
          .update(readFileSync(join(folder, part, name)))
          .digest(),
      );
    }
  }
  return { version: version ?? versionOf(folder) ?? 'unknown', digest: `sha256:${hash.digest('hex')}` };
}

function versionOf(folder) {
  try {
    const header = readFileSync(join(folder, '..', 'src', 'node_version.h'), 'utf8');
    const found = Object.fromEntries([...header.matchAll(VERSION)].map(([, part, number]) => [part, number]));
    return `${found.MAJOR}.${found.MINOR}.${found.PATCH}`;
  } catch {
    return undefined;
  }
}

/**
 * Returns `[{ name, group, flags, startsProcesses, digest }]`, by name. The digest changes with the
 * file and with the files that all tests share.
 */
export function listFiles(folder, filters) {
  let names;
  let shared;
  try {
    names = readdirSync(join(folder, 'parallel')).sort();
    const common = readdirSync(join(folder, 'common'), { withFileTypes: true }).filter((entry) => entry.isFile());
    shared = common.map(({ name }) => readFileSync(join(folder, 'common', name), 'utf8')).join('\0');
  } catch (error) {
    throw new BuildFailure(`conformance: ${folder} is no folder of Node's tests: ${error.message}`);
  }
  return names
    .filter((name) => chosen(name, filters))
    .map((name) => {
      const source = readFileSync(join(folder, 'parallel', name), 'utf8');
      return {
        name,
        group: groupOf(name),
        flags: flagsOf(source),
        startsProcesses: STARTS_PROCESSES.test(source),
        digest: digest(shared, source),
      };
    });
}
