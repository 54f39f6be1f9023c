// Writes docs/e2b-compatibility.md from docs/e2b-compatibility.json. A test compares the page with
// the report. Run the script with `node scripts/e2b/page.mjs`.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fromRoot } from '../build/paths.mjs';
import { readReport } from './report.mjs';

export const pagePath = fromRoot('docs/e2b-compatibility.md');

const INTRO = `# Compatibility with E2B's clients

The page counts the tests of E2B's own clients against [the server](server.md).
\`node scripts/e2b/page.mjs\` generates this page; do not edit the page.

\`pnpm e2b --tests DIR --interpreter DIR\` runs the tests. The tests belong to E2B and are not part of this
repository. A test is an offline test if the test passes without a server. All other tests are live tests.
[e2b-compatibility.json](e2b-compatibility.json) has the same counts.`;

const row = (...cells) => `| ${cells.join(' | ')} |`;

function matrix({ suites }) {
  const rows = suites.map(({ title, versions, offline, live }) => {
    const all = Object.entries(versions).map(([name, version]) => `\`${name}\` ${version}`);
    return row(title, all.join(', '), offline, `${live.passed} of ${live.all}`);
  });
  return [row('suite', 'versions', 'offline', 'live'), '|---|---|---|---|', ...rows].join('\n');
}

function newestTable(newest) {
  const rows = newest.map(({ registry, name, version }) => row(`\`${name}\``, registry, version, 'passed'));
  const head = [row('package', 'registry', 'version', 'calls'), '|---|---|---|---|'];
  return ['`pnpm e2b --newest` runs calls of the newest packages, which are not modified:', '', ...head, ...rows].join('\n');
}

function groups({ title, groups: all }) {
  const rows = all.map(({ group, all: count, passed }) => row(group, passed, count));
  return [`### ${title}`, '', row('group', 'passed', 'live tests'), '|---|---|---|', ...rows].join('\n');
}

function failures({ suites }) {
  const counts = new Map();
  for (const { title, failures: all } of suites) {
    for (const { reason } of all) {
      const byTitle = counts.get(reason) ?? {};
      byTitle[title] = (byTitle[title] ?? 0) + 1;
      counts.set(reason, byTitle);
    }
  }
  const total = (byTitle) => Object.values(byTitle).reduce((sum, count) => sum + count, 0);
  const sorted = [...counts].sort((a, b) => total(b[1]) - total(a[1]) || (a[0] < b[0] ? -1 : 1));
  const titles = suites.map(({ title }) => title);
  const rows = sorted.map(([reason, byTitle]) => row(reason, ...titles.map((title) => byTitle[title] ?? 0)));
  return [row('reason', ...titles), `|---|${titles.map(() => '---|').join('')}`, ...rows].join('\n');
}

function failed({ title, failures: all }) {
  const rows = all.map(({ file, name, reason }) =>
    row(`\`${file.replace(/^tests\//, '')}\``, name.replaceAll('|', '\\|'), reason),
  );
  return [`### ${title}`, '', row('file', 'test', 'reason'), '|---|---|---|', ...rows].join('\n');
}

/** Returns the text of the page. */
export function pageOf(report) {
  const suites = report.suites.filter(({ failures: all }) => all.length > 0);
  return `${[
    INTRO,
    '## Versions',
    matrix(report),
    ...(report.newest === undefined ? [] : [newestTable(report.newest)]),
    '## Live tests by group',
    ...report.suites.map(groups),
    '## Reasons of failures',
    failures(report),
    '## Failed tests',
    ...suites.map(failed),
  ].join('\n\n')}\n`;
}

export const writePage = () => writeFileSync(pagePath, pageOf(readReport()));

if (process.argv[1] === fileURLToPath(import.meta.url)) writePage();
