// Finds the C sources of QuickJS-ng: the folder of a pinned cargo package. Cargo downloads the
// package once, checks it against the lock file, and reports its folder. The sources are not part
// of this tree. Next: `patches/series.mjs`.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { engineDir } from './paths.mjs';

const PACKAGE = 'rquickjs-sys';
const PACKAGE_VERSION = '0.14.0';
export const ENGINE_VERSION = '0.16.2';

/**
 * The engine's files that the guest is compiled from. The engine's libc bindings, its shell and its
 * tests are omitted.
 */
export const ENGINE_FILES = [
  'quickjs.c',
  'quickjs.h',
  'quickjs-atom.h',
  'quickjs-opcode.h',
  'quickjs-c-atomics.h',
  'cutils.h',
  'list.h',
  'dtoa.c',
  'dtoa.h',
  'libregexp.c',
  'libregexp.h',
  'libregexp-opcode.h',
  'libunicode.c',
  'libunicode.h',
  'libunicode-table.h',
  'builtin-array-fromasync.h',
  'builtin-iterator-zip.h',
  'builtin-iterator-zip-keyed.h',
];

/** The packages of each manifest: the folder of the manifest → cargo's list. */
const packages = new Map();

/**
 * Returns the folder of a package that the manifest in `folder` pins. Cargo downloads the package
 * if it is not in cargo's cache.
 */
export function findPackage(name, version, folder = engineDir) {
  const manifest = join(folder, 'Cargo.toml');
  if (!packages.has(folder)) {
    const cargo = (...args) => runCargo([...args, '--locked', '--manifest-path', manifest]);
    cargo('fetch', '--quiet');
    packages.set(folder, JSON.parse(cargo('metadata', '--format-version', '1', '--offline')).packages);
  }
  const found = packages.get(folder).find((entry) => entry.name === name && entry.version === version);
  if (!found) throw new Error(`cargo has no package ${name} ${version}: pin the package in ${manifest}`);
  return dirname(found.manifest_path);
}

/** Returns the folder with the engine's sources. */
export function findEngineDir() {
  const dir = join(findPackage(PACKAGE, PACKAGE_VERSION), 'quickjs');
  checkVersion(dir);
  return dir;
}

/** @returns {Map<string, string>} file name to text */
export function readEngineFiles(dir = findEngineDir()) {
  return new Map(ENGINE_FILES.map((name) => [name, readFileSync(join(dir, name), 'utf8')]));
}

function checkVersion(dir) {
  const header = readFileSync(join(dir, 'quickjs.h'), 'utf8');
  const part = (name) => new RegExp(`#define QJS_VERSION_${name} (\\d+)`).exec(header)?.[1];
  const version = ['MAJOR', 'MINOR', 'PATCH'].map(part).join('.');
  if (version !== ENGINE_VERSION) {
    throw new Error(`the sources in ${dir} are QuickJS-ng ${version}; the patches are written for ${ENGINE_VERSION}`);
  }
}

function runCargo(args) {
  try {
    return execFileSync('cargo', args, { encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (error.code === 'ENOENT')
      throw new Error("cargo is not on the PATH: install Rust (https://rustup.rs), which downloads the engine's sources");
    throw new Error(`cargo ${args[0]} failed:\n${error.stderr}`);
  }
}
