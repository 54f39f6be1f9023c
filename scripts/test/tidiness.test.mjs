// Files are short, open with a comment, and do not name the machine of their author.

import { homedir } from 'node:os';
import { expect, test } from 'vitest';
import { root } from '../build/paths.mjs';
import { isBinary, readText, trackedFiles } from './tree.mjs';

const MAX_LINES = 500;

const files = trackedFiles();
const isFixture = (path) => path.includes('/fixtures/');
const isLock = (path) => /(^|\/)(Cargo\.lock|pnpm-lock\.yaml)$/.test(path);
const isGenerated = (path) => readText(path).startsWith('// Generated ');
const isSource = (path) => /^(packages|scripts)\/.*\.(ts|mjs|js|rs|c|h)$/.test(path) && !isFixture(path);

test(`no source file that a person writes is longer than ${MAX_LINES} lines`, () => {
  const long = files
    .filter((path) => isSource(path) && !isGenerated(path))
    .map((path) => [path, readText(path).split('\n').length - 1]);
  expect(long.filter(([, lines]) => lines > MAX_LINES)).toEqual([]);
});

// Matches a comment at the beginning of a file, after the lines that must precede a comment.
const OPENING = /^(#![^\n]*\n)?(['"]use strict['"];\s*)?(\/\/|\/\*)/;

test('every source file opens with a comment', () => {
  expect(files.filter((path) => isSource(path) && !OPENING.test(readText(path)))).toEqual([]);
});

// The parts are joined at run time, so that this file does not match itself.
const host = (...parts) => parts.join('\\.');
const FORBIDDEN = [
  /(?<![\w.-])\/(?:root|work)\//,
  /\/home\/(?!user\b)[a-z]/,
  new RegExp(host('registry', '(npmjs|yarnpkg)')),
  new RegExp(host('(index|static)', 'crates', 'io')),
  new RegExp(host('(files|pypi)', '(pythonhosted|python)', 'org')),
];

test('no file names a path of a machine or a host of a package registry', () => {
  const here = [root, homedir()].filter((path) => path.length > 5);
  const found = files
    .filter((path) => !isBinary(path) && !path.endsWith('Cargo.lock'))
    .filter((path) => {
      const text = readText(path);
      return here.some((place) => text.includes(place)) || FORBIDDEN.some((pattern) => pattern.test(text));
    });
  expect(found).toEqual([]);
});

test('lockfiles exist and name no registry', () => {
  const locks = files.filter(isLock);
  expect(locks).toEqual(expect.arrayContaining(['packages/sidecar/Cargo.lock', 'pnpm-lock.yaml']));
  expect(readText('pnpm-lock.yaml')).not.toContain('://');
});
