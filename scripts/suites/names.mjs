// Finds tests by a part of their name, in Rust and in JavaScript.
//
// The prose linter extracts the names of tests, and this module searches the names. An underscore
// of a Rust name counts as a space, so that one spelling finds tests of both languages.

import { existsSync, readFileSync } from 'node:fs';
import { fromRoot } from '../build/paths.mjs';
import { piecesOf } from '../prose/extract.mjs';
import { allFiles, kindOf } from '../prose/files.mjs';

const normalize = (name) => name.toLowerCase().replaceAll('_', ' ').trim();

/** Returns whether vitest runs the file. vitest.config.mjs has the patterns. */
const isVitestFile = (path) => /(^|\/)test\/.*\.test\.(ts|mjs)$/.test(path);

const CRATE = /^packages\/sidecar\/crates\/([\w-]+)\/(src|tests)\/([\w-]+)/;

/** Returns the crate of a Rust file, and the arguments that select the test target of the file. */
export function targetOf(path) {
  const [, crate, folder, name] = CRATE.exec(path) ?? [];
  if (crate === undefined) return undefined;
  const hasLibrary = existsSync(fromRoot('packages/sidecar/crates', crate, 'src/lib.rs'));
  const own = hasLibrary && name !== 'main' ? ['--lib'] : ['--bins'];
  return { crate: `coldframe-${crate}`, target: folder === 'tests' ? ['--test', name] : own };
}

/**
 * Groups `{ path, filter }` into cargo calls: `{ crate, target, filters }`, one per test target.
 */
export function cargoCalls(wanted) {
  const calls = new Map();
  for (const { path, filter } of wanted) {
    const { crate, target } = targetOf(path);
    const key = [crate, ...target].join(' ');
    const call = calls.get(key) ?? { crate, target, filters: new Set() };
    call.filters.add(filter);
    calls.set(key, call);
  }
  return [...calls.values()].map((call) => ({ ...call, filters: [...call.filters] }));
}

function* namesIn(path) {
  const kind = kindOf(path);
  const isRust = kind === 'rust' && CRATE.test(path);
  if (!isRust && !isVitestFile(path)) return;
  const { tests } = piecesOf(readFileSync(fromRoot(path), 'utf8'), kind, path);
  for (const { name, line } of tests) yield { path, line, name, isRust, filter: name.replaceAll(' ', '_') };
}

/** Returns whether a file can contain the test, so that most files need no extraction. */
function hasWords(path, words) {
  if (!/\.(rs|ts|mjs)$/.test(path)) return false;
  const text = readFileSync(fromRoot(path), 'utf8').toLowerCase();
  return words.every((word) => text.includes(word));
}

/**
 * Returns the tests whose name contains `part`: `{ path, line, name, isRust }`. If `part` is the
 * path of a file that vitest runs, or the end of such a path, returns all tests of the file.
 */
export function findTests(part) {
  const wanted = normalize(part);
  const words = wanted.split(' ');
  const all = allFiles().flatMap((path) => (path.endsWith(part) || hasWords(path, words) ? [...namesIn(path)] : []));
  const ofFile = all.filter(({ path, isRust }) => !isRust && (path === part || path.endsWith(`/${part}`)));
  return ofFile.length > 0 ? ofFile : all.filter(({ name }) => normalize(name).includes(wanted));
}
