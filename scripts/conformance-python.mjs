// `pnpm conformance:python` runs CPython's own tests in the sandbox and in the native Python, and
// writes docs/python-conformance.json and its page. The tests belong to CPython and are not part of
// this repository: they are in the archive from which the image of Python is built.
//
// Next: conformance/python/modules.mjs (the choice of modules), sides.mjs (how a module runs),
// report.mjs (counts and page).

import { parseArgs } from 'node:util';
import { PYTHON_VERSION } from '../packages/python/build/source.mjs';
import { fromRoot } from './build/paths.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { runAll } from './conformance/pool.mjs';
import { listModules, testsFolder } from './conformance/python/modules.mjs';
import { compare, readReport, totalsOf, writePage, writeReport } from './conformance/python/report.mjs';
import { findNative, openSandbox, runNative } from './conformance/python/sides.mjs';

const HELP = `pnpm conformance:python [options]
  --filter TEXT       only modules whose name, with a $ at its end, contains TEXT; may be repeated
  --jobs N            modules at the same time (default 2)
  --timeout SECONDS   for each module (default 60)
  --python PATH       the native Python 3.13
  --no-write          keep docs/python-conformance.json and its page unchanged
  --help
`;

const OPTIONS = {
  filter: { type: 'string', multiple: true, default: [] },
  jobs: { type: 'string', default: '2' },
  timeout: { type: 'string', default: '60' },
  python: { type: 'string' },
  'no-write': { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

const say = (line) => process.stderr.write(`${line}\n`);

async function main() {
  const { values } = parseArgs({ args: process.argv.slice(2), options: OPTIONS });
  if (values.help) return void process.stdout.write(HELP);
  await ensureBuilt({ python: true });
  const folder = await testsFolder();
  const all = listModules(folder, values.filter);
  const modules = all.filter(({ excluded }) => excluded === undefined);
  const native = findNative(values.python);
  say(
    `${modules.length} of ${all.length} modules; native Python: ${native?.version ?? 'none, so the counts of the report stay'}`,
  );
  const report = readReport();
  const timeout = Number(values.timeout) * 1000;
  const sandbox = openSandbox(await import(fromRoot('packages/sdk/dist/index.js')), folder, Number(values.jobs));
  report.version = PYTHON_VERSION;
  report.timeoutSeconds = Number(values.timeout);
  if (native) report.nativeVersion = native.version;
  if (values.filter.length === 0) {
    report.excluded = {};
    for (const { name, excluded } of all) {
      if (excluded !== undefined) report.excluded[excluded] = [...(report.excluded[excluded] ?? []), name];
    }
  }
  try {
    await runAll('modules', modules, Number(values.jobs), async ({ name }) => {
      const outside = native && (await runNative(native, folder, name, timeout));
      report.modules[name] = compare(outside, await sandbox.run(name, timeout), report.modules[name]);
      if (values.filter.length > 0) say(`${name}: ${JSON.stringify(report.modules[name], null, 1)}`);
      // A run that is stopped keeps its results.
      if (!values['no-write']) writeReport(report);
    });
  } finally {
    await sandbox.close();
  }
  const { native: expected, both, modules: counted, complete } = totalsOf(report);
  say(`${both} of ${expected} tests, ${complete} of ${counted} modules`);
  if (!values['no-write']) writePage();
}

await runMain(main);
