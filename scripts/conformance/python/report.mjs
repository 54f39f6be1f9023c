// The report of CPython's tests, and its page.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromRoot } from '../../build/paths.mjs';

export const reportPath = fromRoot('docs/python-conformance.json');
export const pagePath = fromRoot('docs/python-conformance.md');

/** Failures for want of the extensions in C that CPython has for its tests alone. */
const EXTENSION =
  /_test(?:capi|internalcapi|limitedcapi|buffer|multiphase|singlephase|importmultiple|clinic)\w*|ndarray object required/;

/** The most failures that the report keeps of a module. */
const KEPT = 8;

export const readReport = () => (existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : { modules: {} });

/**
 * Compares the outcomes of a module. Without native outcomes, the earlier count of native passes
 * stays.
 */
export function compare(native, box, earlier) {
  const passes = ({ tests }) => [...tests].filter(([, { outcome }]) => outcome === 'pass').map(([name]) => name);
  const boxPasses = new Set(passes(box));
  const expected = native === undefined ? undefined : passes(native);
  const needsExtension = (name) => EXTENSION.test(box.tests.get(name)?.error ?? '');
  const others = (expected ?? [...box.tests.keys()]).filter((name) => !boxPasses.has(name));
  const missed = others.filter((name) => !needsExtension(name));
  const failures = missed
    .map((name) => [name.replace(/^test\.\w+\.?/, ''), errorOf(box, name)])
    .filter(([, error]) => error !== undefined);
  return {
    native: expected?.length ?? earlier?.native ?? null,
    both: expected === undefined ? boxPasses.size : expected.length - others.length,
    extensions: others.length - missed.length,
    ...(!box.ended && { unfinished: tidy(box.reason) }),
    ...(box.ended && box.tests.size === 0 && { skipped: tidy(box.reason) }),
    failures: failures.slice(0, KEPT),
    ...(failures.length > KEPT && { further: failures.length - KEPT }),
  };
}

function errorOf({ tests }, name) {
  const { outcome, error } = tests.get(name) ?? { outcome: 'fail', error: 'did not run' };
  return outcome === 'skip' ? `skipped: ${tidy(error)}` : tidy(error);
}

const tidy = (text) =>
  text
    .replace(/0x[0-9a-f]+/g, '0x…')
    .replace(/(?:\/[\w.-]+){3,}/g, '…')
    .replace(/\s+/g, ' ')
    .slice(0, 120)
    .trim();

export function writeReport(report) {
  const modules = Object.fromEntries(Object.entries(report.modules).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(reportPath, `${JSON.stringify({ ...report, modules }, null, 1)}\n`);
}

const percent = (part, whole) => (whole === 0 ? '–' : `${(Math.floor((1000 * part) / whole) / 10).toFixed(1)} %`);

const isComplete = ({ native, both, extensions = 0 }) => native === both + extensions;

/** Returns the totals of a report. */
export function totalsOf({ modules }) {
  const counted = Object.values(modules).filter(({ native }) => native);
  const sum = (field) => counted.reduce((total, each) => total + (each[field] ?? 0), 0);
  return {
    modules: counted.length,
    complete: counted.filter(isComplete).length,
    native: sum('native'),
    both: sum('both'),
    extensions: sum('extensions'),
  };
}

const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('`', "'").replaceAll('<', '&lt;').replaceAll('{{', '{ {');

const wrapped = (text) => text.replace(/(.{1,120}), /g, '$1,\n');

/** Returns the text of the page. */
export function pageOf(report) {
  const totals = totalsOf(report);
  const rows = Object.entries(report.modules).filter(([, { native }]) => native);
  const partial = rows.filter(([, row]) => !isComplete(row));
  const table = partial.map(([name, { native, both, extensions = 0, unfinished, skipped, failures }]) => {
    const [first] = failures;
    const why = unfinished ? `did not end: ${unfinished}` : (skipped ?? (first ? `${first[0]}: ${first[1]}` : ''));
    const share = percent(both, native - extensions);
    return `| \`${name}\` | ${native} | ${both} | ${extensions} | ${share} | ${escaped(why)} |`;
  });
  const excluded = Object.entries(report.excluded ?? {}).map(([reason, names]) => `| ${reason} | ${names.length} |`);
  const complete = rows.filter(([, row]) => isComplete(row)).map(([name]) => `\`${name.slice('test_'.length)}\``);
  return `# Conformance of Python

The page counts the tests of CPython ${report.version} that pass in the sandbox.
\`node scripts/conformance/python/report.mjs\` generates this page; do not edit the page.

\`pnpm conformance:python\` runs the tests. A module runs in a runtime of its own, and with the same program in the
native Python ${report.nativeVersion}. The time limit of a module in the last run was ${report.timeoutSeconds} s.
A run with \`--filter\` replaces the rows of its modules only, so the rows can be of runs with different limits. The tests
that a module has not ended in its time count as failed. A test that is skipped does not pass. The percentages are the
shares of the tests that pass in the native Python and also in the sandbox. They leave out the tests of the column "C",
which need extensions in C that CPython has for its tests alone. Modules whose tests need threads, processes, \`ctypes\`
or a screen do not run. [python-conformance.json](python-conformance.json) has the reasons of failures.

| | native | in both | C | |
|---|---|---|---|---|
| tests | ${totals.native} | ${totals.both} | ${totals.extensions} | ${percent(totals.both, totals.native - totals.extensions)} |
| modules of which all these tests pass | ${totals.modules} | ${totals.complete} | | ${percent(totals.complete, totals.modules)} |

## Modules with failures

| module | native | in both | C | | first reason |
|---|---|---|---|---|---|
${table.join('\n')}

## Complete modules

${wrapped(`${complete.join(', ')}.`)}

## Modules that do not run

| the tests need | modules |
|---|---|
${excluded.join('\n')}
`;
}

export const writePage = () => writeFileSync(pagePath, pageOf(readReport()));

if (process.argv[1] === fileURLToPath(import.meta.url)) writePage();
