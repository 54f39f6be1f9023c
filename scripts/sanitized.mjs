// `pnpm test:sanitized`: builds the guest with checks for undefined behaviour, and runs programs
// and tests in that guest. An undefined behaviour ends the guest with a message that names the
// place. `pnpm test:long` runs this script. docs/security-testing.md has the results.

import { parseArgs } from 'node:util';
import { fromRoot } from './build/paths.mjs';
import { run } from './build/run.mjs';
import { SANITIZED } from './build/steps.mjs';
import { ensureBuilt, runMain } from './build.mjs';

const HELP = `pnpm test:sanitized [options]   tests the guest with checks for undefined behaviour
  --node-tests DIR   also runs Node's own tests from the folder test/ of Node's sources
  --filter GROUP     runs only these groups of Node's tests; may be repeated
`;

/**
 * The tests in Node's WebAssembly. The checks change the use of memory and of the stack. The tests
 * of memory, pages and the depth of recursion are therefore absent.
 */
const UNIT = [
  'fixtures',
  'refresh',
  'resident',
  'engine/contexts',
  'engine/error-texts',
  'engine/maps',
  'engine/modules',
  'engine/natives',
  'engine/private-symbols',
  'engine/random-programs',
  'engine/regexps',
  'engine/suite',
  'engine/weak-refs',
].map((name) => `packages/runner/test/${name}.test.mjs`);

/** The tests in real sidecars: fixtures that need a kernel, and the parts of the product. */
const SANDBOX = [
  'fixtures',
  'bindings',
  'clones',
  'programs',
  'resident',
  'rollback-files',
  'shell',
  'snapshots',
  'typescript',
].map((name) => `packages/sdk/test/sandbox/${name}.test.ts`);

const print = (line) => process.stdout.write(`${line}\n`);

/** The time limit of one group of tests. Checks make the guest several times slower. */
const LONGEST_MS = 3 * 60 * 60_000;

/** The time limit of one test. */
const TEST_MS = '600000';

const env = { NO_COLOR: '1', COLDFRAME_IMAGES: fromRoot(SANITIZED) };

const node = (...args) => run(process.execPath, args, { onLine: print, env, longestMs: LONGEST_MS });

const vitest = (files) => node(fromRoot('node_modules/vitest/vitest.mjs'), 'run', `--testTimeout=${TEST_MS}`, ...files);

await runMain(async () => {
  const options = {
    help: { type: 'boolean' },
    'node-tests': { type: 'string' },
    filter: { type: 'string', multiple: true, default: [] },
  };
  const { values } = parseArgs({ options });
  if (values.help) return process.stdout.write(HELP);
  await ensureBuilt({ sanitize: true });
  await vitest(UNIT);
  await vitest(SANDBOX);
  if (values['node-tests'] === undefined) return;
  const filters = values.filter.flatMap((filter) => ['--filter', filter]);
  await node('scripts/conformance.mjs', '--node-tests', values['node-tests'], '--no-write', ...filters);
});
