// Writes docs/node-compatibility.md from docs/conformance.json, docs/userland.json and the npm
// table. A test compares the page with these sources. Run the script with `node
// scripts/conformance/page.mjs`.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { table } from '../../packages/runner/npm-table/table.mjs';
import { fromRoot } from '../build/paths.mjs';
import { LATER } from './later.mjs';
import { OPENSSL_ONLY } from './openssl.mjs';
import { reportPath } from './paths.mjs';
import { groupTable, needOpenssl, percent, readReport, withoutFiles } from './report.mjs';

export const pagePath = fromRoot('docs/node-compatibility.md');

const userlandPath = fromRoot('docs/userland.json');

const INTRO = `# Node compatibility

Programs in the sandbox run on Node's own library: Node's unmodified JavaScript over Coldframe's internal
bindings. \`node scripts/conformance/page.mjs\` generates this page; do not edit the page.`;

const TESTS = (report) => `## Node's own tests

The table counts files of Node's \`test/parallel\` by group, the second word of a file's name. Each file
runs in its own runtime and in the pinned Node ${report.node}. A file that skips itself does not pass. The
first percentage is the share of the files that pass in Node and also in the sandbox. "Start processes" counts
the files that start other processes and pass only in Node. The last percentage leaves out these files.
[conformance.json](conformance.json) has the result of every file, and the reason of a failure.

\`pnpm conformance --node-tests DIR\` runs the tests. The tests belong to Node and are not part of this
repository. DIR is the folder \`test/\` of Node's sources. ${origin(report.tests)}

${groupTable(report)}

${openssl(report)}`;

const origin = (tests) =>
  tests === undefined
    ? ''
    : `The files of the table are\nthe tests of Node ${tests.version}; [conformance.json](conformance.json) has their digest.`;

const TLS_GROUPS = ['tls', 'https'];

function openssl(report) {
  const rows = needOpenssl(report, OPENSSL_ONLY);
  const omitted = rows.flatMap(({ files }) => files);
  const shares = TLS_GROUPS.map((group) => {
    const { ceiling, passes } = withoutFiles(report, group, omitted);
    return `${percent(passes, ceiling)} of the group \`${group}\``;
  });
  return `Some files need a part of OpenSSL that the sandbox's TLS leaves out. Without these files,
${shares.join(' and ')} pass.

| part of OpenSSL | files that pass only in Node |
|---|---|
${rows.map(({ feature, files }) => `| ${feature} | ${files.map((name) => `\`${name}\``).join(', ')} |`).join('\n')}`;
}

const NPM = () => `## Packages

${table.length} widely used packages load and do their main job, with output equal to Node's. The programs
are in \`packages/runner/npm-table/programs\`. \`packages/runner/test/sandbox/npm-table.test.mjs\` runs
each program in the sandbox and in Node.

| package | version | the program's job |
|---|---|---|
${table.map(({ name, version, about }) => `| \`${name}\` | ${version} | ${about} |`).join('\n')}`;

const micros = (statistics) => (statistics === null ? '–' : short(statistics.p50 * 1000));

const short = (value) => (value >= 100 ? String(Math.round(value)) : value.toPrecision(2));

function userland() {
  const { hardware, hostCallUs, results } = JSON.parse(readFileSync(userlandPath, 'utf8'));
  const rows = results.map(({ name, node, sandbox, ratio }) => {
    return `| ${name} | ${micros(node)} | ${micros(sandbox)} | ${ratio === null ? '–' : short(ratio)} |`;
  });
  return `## Cost

The table has the medians of one run of \`pnpm bench:userland\` on ${hardware.cores} × ${hardware.cpu}, Linux
${hardware.kernel}. A row has times only if both sides computed equal values; "–" marks a row without times. The
sandbox interprets JavaScript, so work of Node's JavaScript costs many times as much in the sandbox. Work of Node's C
code costs between a fraction and a few times as much. A call to the kernel costs ${short(hostCallUs)} µs
more than a call within the engine.

| µs per operation | Node | sandbox | sandbox / Node |
|---|---:|---:|---:|
${rows.join('\n')}`;
}

const later = () => `## Missing features

A module with missing functions can be loaded, unless the table names an error of \`require\`. A missing
function throws an error when the function is called. The code of the error is
\`ERR_FEATURE_UNAVAILABLE_ON_PLATFORM\` unless the table names another code.

| feature | present behaviour |
|---|---|
${LATER.map(([what, until]) => `| ${what} | ${until} |`).join('\n')}`;

export function makePage() {
  const parts = [INTRO, TESTS(readReport(reportPath)), NPM(), userland(), later()];
  return `${parts.join('\n\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(pagePath, makePage());
