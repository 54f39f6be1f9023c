// docs/conformance.json: one line per file, sorted, so that a difference in git reads as what changed.
// A run over a part of the files replaces their lines and keeps the others.

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

/** The report with `results` (name → line) laid over the files of `before` that `exists` still knows. */
export function mergeReport(before, results, exists) {
  const kept = Object.entries(before.files).filter(([name]) => exists(name));
  const files = Object.fromEntries([...kept, ...Object.entries(results)].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { ...before, files };
}

export function formatReport({ node, startProcesses, files }) {
  const lines = Object.entries(files).map(([name, line]) => {
    const sorted = Object.fromEntries(ORDER.filter((key) => line[key] !== undefined).map((key) => [key, line[key]]));
    return `    ${JSON.stringify(name)}: ${JSON.stringify(sorted)}`;
  });
  const names = startProcesses.map((name) => `    ${JSON.stringify(name)}`);
  return `{\n  "node": ${JSON.stringify(node)},\n  "startProcesses": [\n${names.join(',\n')}\n  ],\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`;
}

export function writeReport(path, report) {
  writeFileSync(path, formatReport(report));
}

/** Per group, in the order of GROUPS: how many files, how many pass in Node, how many of these pass here. */
export function groupRows({ files, startProcesses = [] }) {
  const aside = new Set(startProcesses);
  const rows = new Map(GROUPS.map((group) => [group, { group, tests: 0, ceiling: 0, passes: 0, aside: 0 }]));
  for (const [name, { result, ceiling }] of Object.entries(files)) {
    const row = rows.get(groupOf(name));
    if (row === undefined) continue;
    row.tests++;
    if (ceiling !== 'pass') continue;
    row.ceiling++;
    if (result === 'pass') row.passes++;
    else if (aside.has(name)) row.aside++;
  }
  return [...rows.values()].filter((row) => row.tests > 0);
}

export function totalOf(rows) {
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  return { group: 'all', tests: sum('tests'), ceiling: sum('ceiling'), passes: sum('passes'), aside: sum('aside') };
}

export const percent = (part, whole) => (whole === 0 ? '–' : `${Math.floor((1000 * part) / whole) / 10} %`);

/** The table of the documents. `aside`: failures of files that start processes, which this version does not do. */
export function groupTable(report) {
  const rows = groupRows(report);
  const line = ({ group, tests, ceiling, passes, aside }) =>
    `| ${group} | ${tests} | ${ceiling} | ${passes} | ${percent(passes, ceiling)} | ${aside || ''} | ${percent(passes, ceiling - aside)} |`;
  return [
    '| group | files | pass in Node | of these, here | | start processes | without these |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...rows.map(line),
    line(totalOf(rows)),
  ].join('\n');
}
