// The report of `pnpm e2b`: the counts of each suite by group, and the failures with their reasons.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fromRoot } from '../build/paths.mjs';
import { reasonOf } from './reasons.mjs';

export const reportPath = fromRoot('docs/e2b-compatibility.json');

const keyOf = ({ file, name }) => `${file} ${name}`;

/** Returns the group of a file: its folder below the folder of the tests. */
export function groupOf(file) {
  const folder = dirname(file)
    .replace(/^tests\/?/, '')
    .replace(/(^|\/)(sync|async)(?=\/|$)/g, '')
    .replace(/_(sync|async)(?=\/|$)/g, '');
  return folder.replace(/^\/+/, '').replace(/\/+/g, '/') || 'client';
}

/** Compares the results without a server and with a server. */
export function resultOf({ name, title }, versions, offline, live) {
  const withoutServer = new Map(offline.map((test) => [keyOf(test), test.status]));
  const groups = new Map();
  const failures = [];
  let passedOffline = 0;
  let skipped = 0;
  for (const test of live) {
    const before = withoutServer.get(keyOf(test));
    if (before === 'passed') {
      passedOffline++;
      continue;
    }
    if (test.status === 'skipped') {
      skipped++;
      continue;
    }
    const group = groupOf(test.file);
    const counts = groups.get(group) ?? { all: 0, passed: 0 };
    counts.all++;
    if (test.status === 'passed') counts.passed++;
    else failures.push({ file: test.file, name: test.name, reason: reasonOf(test) });
    groups.set(group, counts);
  }
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([group, counts]) => ({ group, ...counts }));
  const sum = (field) => sorted.reduce((total, counts) => total + counts[field], 0);
  failures.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return {
    name,
    title,
    versions,
    offline: passedOffline,
    skipped,
    live: { all: sum('all'), passed: sum('passed') },
    groups: sorted,
    failures,
  };
}

/** Returns a report in which `results` replace the earlier results of their suites. */
export function mergeReport({ suites, ...rest }, results) {
  const kept = suites.filter(({ name }) => !results.some((result) => result.name === name));
  return { ...rest, suites: [...kept, ...results].sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

export const readReport = () => (existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : { suites: [] });

export const writeReport = (report) => writeFileSync(reportPath, `${JSON.stringify(report, null, 1)}\n`);
