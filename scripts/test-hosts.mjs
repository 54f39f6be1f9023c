// `pnpm test:hosts`: downloads the hosts, runs each feature of hosts/features.mjs in each host, and
// runs some of the SDK's tests in each Node that runs vitest. Prints the table of docs/hosts.md.
// Fails if a result differs from the table, or from the list of unsupported features.

import { execFile } from 'node:child_process';
import { parseArgs } from 'node:util';
import { BuildFailure } from './build/failure.mjs';
import { fromRoot, root } from './build/paths.mjs';
import { run } from './build/run.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { downloadHost } from './hosts/download.mjs';
import { hosts as allHosts } from './hosts/hosts.mjs';
import { readTable, table, writeTable } from './hosts/table.mjs';

const HELP = `pnpm test:hosts [options]   runs the SDK in every host
  --host NAME   runs only the hosts whose names contain NAME; may be given several times
  --write       writes the table of docs/hosts.md
  --no-tests    runs the features only, and none of the SDK's tests
`;

/** The longest run of one feature. A host in which a feature hangs must not block the command. */
const LONGEST_MS = 120_000;

const WORKS = 'works';

/**
 * The SDK's tests that run in each Node: transports, starts of programs, network, embedded mode,
 * and the end of the app's process.
 */
const TESTS = [
  'packages/sdk/test/entry.test.ts',
  'packages/sdk/test/channel',
  'packages/sdk/test/transports',
  'packages/sdk/test/sandbox/exit-codes.test.ts',
  'packages/sdk/test/sandbox/network-streams.test.ts',
  'packages/sdk/test/sandbox/programs.test.ts',
];

function readArguments() {
  try {
    const options = {
      help: { type: 'boolean' },
      host: { type: 'string', multiple: true, default: [] },
      write: { type: 'boolean' },
      'no-tests': { type: 'boolean' },
    };
    return parseArgs({ options }).values;
  } catch (error) {
    throw new BuildFailure(`${error.message}\n${HELP}`);
  }
}

/** Runs one feature in a process of its own. Returns `works`, or a description of the failure. */
function runFeature(program, args, feature) {
  const file = fromRoot('scripts/hosts/features.mjs');
  const options = { cwd: root, timeout: LONGEST_MS, killSignal: 'SIGKILL' };
  return new Promise((resolve) => {
    execFile(program, [...args, file, feature], options, (error, stdout, stderr) => {
      if (error === null && stdout === 'works\n') return resolve(WORKS);
      const end = error === null ? 'exit code 0' : error.killed ? 'no end' : `exit code ${error.code ?? error.signal}`;
      resolve(`fails (${end}): ${stdout}${stderr}`.trim());
    });
  });
}

async function runHost(host, features) {
  const program = await downloadHost(host);
  const results = new Map();
  for (const feature of features) results.set(feature, await runFeature(program, host.args, feature));
  return { program, results };
}

async function runTests(host, program) {
  const print = (line) => process.stderr.write(`${host.name}: ${line}\n`);
  await run(program, ['node_modules/vitest/vitest.mjs', 'run', ...TESTS], { onLine: print, env: { NO_COLOR: '1' } });
}

await runMain(async () => {
  const { help, host: names, write, 'no-tests': noTests } = readArguments();
  if (help) return process.stdout.write(HELP);
  const hosts = allHosts.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)));
  if (hosts.length === 0) throw new BuildFailure(`--host: expected a part of ${allHosts.map(({ name }) => name).join(', ')}`);
  await ensureBuilt();
  const { features } = await import('./hosts/features.mjs');
  const list = Object.keys(features);
  const all = new Map();
  let failures = 0; // results that differ from the list of unsupported features
  for (const host of hosts) {
    const { program, results } = await runHost(host, list);
    all.set(host.name, results);
    const failed = [...results].filter(([, result]) => result !== WORKS);
    const unexpected = [...results].filter(([feature, result]) => host.unsupported.includes(feature) === (result === WORKS));
    failures += unexpected.length;
    process.stderr.write(`${host.name}: ${results.size - failed.length} of ${results.size} features work\n`);
    for (const [feature, result] of failed) process.stderr.write(`  ${feature}: ${result}\n`);
    if (!noTests && host.runsVitest) await runTests(host, program);
  }
  const lines = table([...all.keys()], list, (host, feature) => (all.get(host).get(feature) === WORKS ? 'yes' : 'no'));
  process.stdout.write(`${lines}\n`);
  if (write) writeTable(lines);
  else if (hosts.length === allHosts.length && readTable() !== lines) process.exitCode = 1;
  if (failures > 0) process.exitCode = 1;
});
