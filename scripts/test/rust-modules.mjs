// Finds the dependencies between crates, and between the top-level modules of a crate, from the
// `crate::` and `super::` paths outside tests.

import { execFileSync } from 'node:child_process';
import { fromRoot } from '../build/paths.mjs';
import { readText, trackedFiles } from './tree.mjs';

const CRATES = 'packages/sidecar/crates';

/** Removes comments, and modules that are compiled for tests only. */
function codeOf(text) {
  const lines = text.replace(/\/\/.*$/gm, '').split('\n');
  const kept = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (/^\s*#\[cfg\((?:all\()?test/.test(lines[at]) && /^\s*(pub(\(.*\))? )?mod \w+/.test(lines[at + 1] ?? '')) {
      at += 1;
      if (!lines[at].trimEnd().endsWith(';')) {
        const end = `${/^\s*/.exec(lines[at])[0]}}`;
        while (at < lines.length && lines[at] !== end) at += 1;
      }
      continue;
    }
    kept.push(lines[at]);
  }
  return kept.join('\n');
}

/** Returns the path of a file's module: `['fs']` for `src/fs/mod.rs` and for `src/fs.rs`. */
const modulePath = (file) =>
  file
    .replace(/\.rs$/, '')
    .replace(/\/mod$/, '')
    .split('/')
    .filter((part) => part !== 'lib');

/** Returns the first name of each path in `use PREFIX::{a, b::c}` and in a plain `PREFIX::a`. */
function names(code, prefix) {
  const found = [];
  const escaped = prefix.replaceAll('::', '\\s*::\\s*');
  for (const match of code.matchAll(new RegExp(`(?<![\\w:])${escaped}\\s*::\\s*(\\w+|\\{)`, 'g'))) {
    if (match[1] !== '{') {
      found.push(match[1]);
      continue;
    }
    let depth = 1;
    let item = '';
    for (let at = match.index + match[0].length; depth > 0 && at < code.length; at += 1) {
      const char = code[at];
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      if ((char === ',' && depth === 1) || depth === 0) {
        found.push(/^\s*(\w+)/.exec(item)?.[1]);
        item = '';
      } else item += char;
    }
  }
  return found.filter(Boolean);
}

/**
 * Returns the modules of a crate, each with the other modules that it uses, as a `Map` of name to
 * `Set`.
 */
export function moduleArrows(crate) {
  const root = `${CRATES}/${crate}/src/`;
  const isTest = (file) => /(^|\/)(tests|testing)(\/|\.rs$)|_tests\.rs$/.test(file);
  const files = trackedFiles().filter(
    (file) => file.startsWith(root) && file.endsWith('.rs') && !isTest(file.slice(root.length)),
  );
  const code = new Map(files.map((file) => [file.slice(root.length), codeOf(readText(file))]));
  const modules = new Set([...code.keys()].map((file) => modulePath(file)[0]).filter(Boolean));
  // The use of an item that the root exports counts as a use of the module that declares the item.
  const exported = new Map();
  for (const [, module, items] of (code.get('lib.rs') ?? '').matchAll(/\buse (?:crate::)?(\w+)::([^;]+);/g)) {
    for (const [name] of items.matchAll(/\w+/g)) exported.set(name, module);
  }
  const arrows = new Map([...modules].map((module) => [module, new Set()]));
  for (const [file, text] of code) {
    const path = modulePath(file);
    if (path.length === 0) continue;
    const used = [...names(text, 'crate'), ...names(text, path.map(() => 'super').join('::'))];
    for (const name of used) {
      const target = modules.has(name) ? name : exported.get(name);
      if (modules.has(target) && target !== path[0]) arrows.get(path[0]).add(target);
    }
  }
  return arrows;
}

/** Returns the groups of modules that use each other, directly or through other modules. */
export function circles(arrows) {
  const reach = new Map();
  for (const module of arrows.keys()) {
    const seen = new Set();
    const visit = (name) => {
      for (const next of arrows.get(name) ?? []) {
        if (!seen.has(next)) {
          seen.add(next);
          visit(next);
        }
      }
    };
    visit(module);
    reach.set(module, seen);
  }
  const groups = [...arrows.keys()].filter((module) => reach.get(module).has(module));
  const circle = (module) => groups.filter((other) => reach.get(module).has(other) && reach.get(other).has(module)).sort();
  return [...new Set(groups.map((module) => circle(module).join(' ')))];
}

/** Returns the packages of `Cargo.lock`, each with the names of its dependencies. */
function lockedPackages() {
  const packages = new Map();
  for (const block of readText('packages/sidecar/Cargo.lock').split('[[package]]').slice(1)) {
    const name = /^name = "(.+)"$/m.exec(block)?.[1] ?? '';
    const list = /^dependencies = \[\n([^\]]*)\]/m.exec(block)?.[1] ?? '';
    const dependencies = [...list.matchAll(/"([^" ]+)/g)].map(([, dependency]) => dependency);
    packages.set(name, new Set([...(packages.get(name) ?? []), ...dependencies]));
  }
  return packages;
}

/**
 * Returns the names of all packages that a package depends on, directly or through others. The
 * dependencies of its tests are included.
 */
export function packagesBelow(name) {
  const packages = lockedPackages();
  const found = new Set();
  const visit = (at) => {
    for (const dependency of packages.get(at) ?? []) {
      if (!found.has(dependency)) {
        found.add(dependency);
        visit(dependency);
      }
    }
  };
  visit(name);
  return found;
}

/**
 * Returns the names of the packages that cargo compiles for a package in `pnpm build`. Packages of
 * disabled features are not included.
 */
export function packagesCompiledFor(name) {
  const args = ['tree', '--locked', '--package', name, '--edges', 'normal,build', '--prefix', 'none', '--format', '{p}'];
  const lines = execFileSync(process.execPath, [fromRoot('scripts/cargo.mjs'), ...args], { encoding: 'utf8' }).split('\n');
  return new Set(lines.filter(Boolean).map((line) => line.split(' ')[0]));
}

/**
 * Returns the features of each package that cargo compiles for the workspace, as a list for each
 * package's name. `kinds` names the kinds of dependencies, as in `cargo tree --edges`.
 */
export function featuresOf(kinds) {
  const args = ['tree', '--locked', '--workspace', '--edges', kinds, '--prefix', 'none', '--format', '{p}|{f}|'];
  const lines = execFileSync(process.execPath, [fromRoot('scripts/cargo.mjs'), ...args], { encoding: 'utf8' }).split('\n');
  const features = new Map();
  for (const line of new Set(lines)) {
    const [, name, list] = /^(\S+) .*?\|(.*?)\|/.exec(line) ?? [];
    if (name) features.set(name, [...new Set([...(features.get(name) ?? []), ...list.split(',')])].sort());
  }
  return features;
}

/**
 * Returns the crates of the workspace, each with the other crates of the workspace that it uses
 * outside its tests.
 */
export function crateArrows() {
  const manifests = trackedFiles().filter((file) => file.startsWith(`${CRATES}/`) && file.endsWith('/Cargo.toml'));
  const arrows = manifests.map((file) => {
    const section = /^\[dependencies\]\n([\s\S]*?)(?=^\[|$(?![\s\S]))/m.exec(readText(file))?.[1] ?? '';
    const used = [...section.matchAll(/^coldframe-([\w-]+)\b/gm)].map(([, name]) => name);
    return [file.split('/').at(-2), new Set(used)];
  });
  return new Map(arrows);
}
