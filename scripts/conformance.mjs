// `pnpm conformance --node-tests DIR` runs Node's own test files in the sandbox and in the real
// Node, and writes docs/conformance.json. The tests belong to Node and are not part of this
// repository.
// Next: conformance/files.mjs (the choice of files), ceiling.mjs (the real Node), sandbox.mjs (the
// sandbox), result.mjs (the meaning of a file's end), report.mjs.

import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pinnedNode } from '@coldframe/pinned-node';
import { BuildFailure } from './build/failure.mjs';
import { fromRoot, root } from './build/paths.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { openCeiling } from './conformance/ceiling.mjs';
import { listFiles, originOf } from './conformance/files.mjs';
import { readOptions } from './conformance/options.mjs';
import { reportPath, stateFolder } from './conformance/paths.mjs';
import { runAll } from './conformance/pool.mjs';
import { groupRows, mergeReport, percent, readReport, totalOf, writeReport } from './conformance/report.mjs';
import { openSandbox } from './conformance/sandbox.mjs';
import { openState } from './conformance/state.mjs';
import { summary } from './conformance/summary.mjs';

const say = (line) => process.stderr.write(`${line}\n`);

/** The built files on which a result depends. */
const BUILT = [
  join(process.env.COLDFRAME_IMAGES || 'packages/runner/dist', 'guest.image'),
  'packages/sidecar/dist/coldframe-sidecar',
  'packages/sdk/dist/index.js',
];

const keyOf = (file) => `${file.name} ${file.digest}`;

/**
 * Returns the digest of ceiling.mjs, because the results of the real Node depend on that script.
 */
const ceilingDigest = () =>
  createHash('sha256')
    .update(readFileSync(fromRoot('scripts/conformance/ceiling.mjs')))
    .digest('hex')
    .slice(0, 8);

async function runCeiling(files, { folder, jobs, timeoutMs }) {
  const { binary: node, version } = pinnedNode();
  const state = openState(join(stateFolder, `node-${version}-${ceilingDigest()}.jsonl`));
  const missing = files.filter((file) => state.get(keyOf(file)) === undefined);
  const ceiling = openCeiling(node, folder);
  try {
    await runAll('Node', missing, jobs, async (file) => state.set(keyOf(file), await ceiling.run(file, timeoutMs)));
  } finally {
    ceiling.close();
  }
  return { state, version };
}

/** Returns the digest of the image and the sidecar. Results are valid for one build. */
function buildDigest() {
  const hash = createHash('sha256');
  for (const path of BUILT) hash.update(readFileSync(resolve(root, path)));
  return hash.digest('hex').slice(0, 16);
}

async function runSandbox(files, ceiling, { folder, jobs, timeoutMs, fresh }) {
  const state = openState(join(stateFolder, `sandbox-${buildDigest()}.jsonl`), { fresh });
  const missing = files.filter((file) => state.get(keyOf(file)) === undefined);
  if (missing.length === 0) return state;
  const sandbox = openSandbox(await import(fromRoot('packages/sdk/dist/index.js')), folder, jobs);
  const counts = { pass: 0, missed: 0 };
  const describe = () => `, ${counts.pass} pass, ${counts.missed} pass in Node only`;
  try {
    await runAll(
      'sandbox',
      missing,
      jobs,
      async (file) => {
        const { result } = state.set(keyOf(file), await sandbox.run(file, timeoutMs));
        if (result === 'pass') counts.pass++;
        else if (ceiling.get(keyOf(file))?.result === 'pass') counts.missed++;
      },
      describe,
    );
  } finally {
    await sandbox.close();
  }
  return state;
}

/** Removes text that differs between machines. */
const tidy = (reason) => reason.replaceAll(/\S*\/bin\/node\b(?:\[\d+\])?/g, 'node').replaceAll(/\/tmp\/conformance-\w+/g, '');

function resultsOf(files, sandbox, ceiling) {
  const lines = files.map((file) => {
    const { result, reason, ms } = sandbox.get(keyOf(file));
    const { result: above, reason: aboveReason } = ceiling.get(keyOf(file));
    // If Node does not pass, Node's reason explains more than the sandbox's reason.
    return [file.name, { result, ceiling: above, reason: tidy(above === 'pass' ? reason : aboveReason), ms }];
  });
  return Object.fromEntries(lines);
}

async function main() {
  const options = readOptions(process.argv.slice(2));
  options.folder = realpathSync(resolve(process.env.INIT_CWD ?? process.cwd(), options.folder));
  const files = listFiles(options.folder, options.filters);
  if (files.length === 0) throw new BuildFailure(`conformance: no file below ${options.folder} matches`);
  say(`${files.length} files of ${options.folder}`);
  if (!options.ceilingOnly) await ensureBuilt({ dev: options.dev });

  const { state: ceiling, version } = await runCeiling(files, options);
  if (options.ceilingOnly) return;
  const sandbox = await runSandbox(files, ceiling, options);

  const results = resultsOf(files, sandbox, ceiling);
  const before = readReport(reportPath);
  const all = listFiles(options.folder, []);
  const names = new Set([...all, ...files].map(({ name }) => name));
  const report = mergeReport(before, results, (name) => names.has(name));
  report.node = version;
  report.tests = originOf(options.folder, options.testsVersion);
  const isPart = Object.keys(report.files).length > files.length;
  if (isPart && before.tests?.digest !== report.tests.digest) say('the other results of the report come from other tests');
  report.startProcesses = all.filter((file) => file.startsProcesses && report.files[file.name]).map(({ name }) => name);
  if (options.write) writeReport(reportPath, report);
  if (options.summary) writeFileSync(options.summary, summary(report, `Node ${version}`));
  print({ files: results, startProcesses: report.startProcesses });
}

function print(report) {
  const rows = groupRows(report);
  for (const { group, tests, ceiling, passes, startingProcesses } of [...rows, totalOf(rows)]) {
    const numbers = [
      tests,
      ceiling,
      passes,
      percent(passes, ceiling),
      startingProcesses ? `${percent(passes, ceiling - startingProcesses)} without processes` : '',
    ];
    process.stdout.write(`${group.padEnd(16)}${numbers.map((value) => String(value).padStart(8)).join('')}\n`);
  }
}

await runMain(main);
