// docs/conformance.json: one line per file, sorted, so that a difference in git shows the changed
// results. A run over a part of the files replaces the lines of these files and keeps all other
// lines.

import { readFileSync, writeFileSync } from 'node:fs';
import { GROUPS, groupOf } from './groups.mjs';

const ORDER = ['result', 'ceiling', 'reason', 'ms'];

export function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { node: undefined, files: {} };
  }
}

/**
 * Returns the report with `results` (name → line) in place of older lines. Keeps lines of `before`
 * whose file `exists`.
 */
export function mergeReport(before, results, exists) {
  const kept = Object.entries(before.files).filter(([name]) => exists(name));
  const files = Object.fromEntries([...kept, ...Object.entries(results)].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...before, files };
}

export function formatReport({ node, tests, startProcesses, files }) {
  const lines = Object.entries(files).map(([name, line]) => {
    const sorted = Object.fromEntries(ORDER.filter((key) => line[key] !== undefined).map((key) => [key, line[key]]));
    return `    ${JSON.stringify(name)}: ${JSON.stringify(sorted)}`;
  });
  const names = startProcesses.map((name) => `    ${JSON.stringify(name)}`);
  return [
    `{\n  "node": ${JSON.stringify(node)},\n`,
    tests === undefined ? '' : `  "tests": ${JSON.stringify(tests)},\n`,
    `  "startProcesses": [\n${names.join(',\n')}\n  ],\n`,
    `  "files": {\n${lines.join(',\n')}\n  }\n}\n`,
  ].join('');
}

export function writeReport(path, report) {
  writeFileSync(path, formatReport(report));
}

/**
 * Returns a row per group, in the order of GROUPS. A row counts the files, the passes in Node, and
 * the files that pass in Node and in the sandbox. `startingProcesses` counts the files that start
 * processes and pass only in Node.
 */
export function groupRows({ files, startProcesses = [] }) {
  const startingProcesses = new Set(startProcesses);
  const rows = new Map(GROUPS.map((group) => [group, { group, tests: 0, ceiling: 0, passes: 0, startingProcesses: 0 }]));
  for (const [name, { result, ceiling }] of Object.entries(files)) {
    const row = rows.get(groupOf(name));
    if (row === undefined) continue;
    row.tests++;
    if (ceiling !== 'pass') continue;
    row.ceiling++;
    if (result === 'pass') row.passes++;
    else if (startingProcesses.has(name)) row.startingProcesses++;
  }
  return [...rows.values()].filter((row) => row.tests > 0);
}

export function totalOf(rows) {
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  return {
    group: 'all',
    tests: sum('tests'),
    ceiling: sum('ceiling'),
    passes: sum('passes'),
    startingProcesses: sum('startingProcesses'),
  };
}

/**
 * Returns `[{ feature, files }]`: the files that pass only in Node because they need a part of
 * OpenSSL that is left out (openssl.mjs).
 */
export function needOpenssl({ files }, table) {
  const isMissed = (name) => files[name]?.ceiling === 'pass' && files[name].result !== 'pass';
  return table.map(([feature, names]) => ({ feature, files: names.filter(isMissed) })).filter((row) => row.files.length > 0);
}

/** Returns the passes of a group in Node and in both, without the files in `omitted`. */
export function withoutFiles({ files }, group, omitted) {
  const names = Object.keys(files).filter((name) => groupOf(name) === group && files[name].ceiling === 'pass');
  const kept = names.filter((name) => !omitted.includes(name));
  return { ceiling: kept.length, passes: kept.filter((name) => files[name].result === 'pass').length };
}

export const percent = (part, whole) => (whole === 0 ? '–' : `${Math.floor((1000 * part) / whole) / 10} %`);

/**
 * Returns the table of the page. The last percentage omits files that start processes and pass only
 * in Node.
 */
export function groupTable(report) {
  const rows = groupRows(report);
  const line = ({ group, tests, ceiling, passes, startingProcesses }) => {
    const withoutThem = percent(passes, ceiling - startingProcesses);
    const cells = [group, tests, ceiling, passes, percent(passes, ceiling), startingProcesses || '', withoutThem];
    return `| ${cells.join(' | ')} |`;
  };
  return [
    '| group | files | pass in Node | pass in both | | start processes | without them |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows.map(line),
    line(totalOf(rows)),
  ].join('\n');
}
