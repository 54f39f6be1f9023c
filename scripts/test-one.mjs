// `pnpm test:one NAME`: runs the tests whose name contains NAME, in Rust and in JavaScript, on a
// development build. NAME may also be the path of a vitest file, or the end of such a path.

import { BuildFailure } from './build/failure.mjs';
import { fromRoot } from './build/paths.mjs';
import { run } from './build/run.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { runCargoTests } from './suites/cargo-tests.mjs';
import { cargoCalls, findTests } from './suites/names.mjs';

const HELP = `pnpm test:one NAME   runs the tests whose name contains NAME, or the tests of a file
  Words are separated by spaces or underscores. Examples:
    pnpm test:one reuses a slot
    pnpm test:one reuses_a_slot
    pnpm test:one sandbox/programs.test.ts
`;

/** The highest number of tests that are listed by name. */
const MOST_SHOWN = 20;

const print = (line) => process.stdout.write(`${line}\n`);

function show(tests) {
  for (const { path, line, name } of tests.slice(0, MOST_SHOWN)) print(`${path}:${line}  ${name}`);
  if (tests.length > MOST_SHOWN) print(`and ${tests.length - MOST_SHOWN} more`);
}

const escaped = (text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/**
 * Returns a pattern for the test's name. `findTests` writes X for a placeholder, and the running
 * test has a value in its place.
 */
const patternOf = ({ name }) => escaped(name).replace(/\bX\b/g, '.*');

async function runVitest(tests) {
  const files = [...new Set(tests.map(({ path }) => path))];
  const pattern = [...new Set(tests.map(patternOf))].join('|');
  const args = [fromRoot('node_modules/vitest/vitest.mjs'), 'run', ...files, '-t', pattern];
  await run(process.execPath, args, { onLine: print, env: { NO_COLOR: '1' } });
}

await runMain(async () => {
  const part = process.argv.slice(2).join(' ');
  if (part === '--help' || part === '') return process.stdout.write(HELP);
  const tests = findTests(part);
  if (tests.length === 0) throw new BuildFailure(`test:one: no test has ${JSON.stringify(part)} in its name`);
  show(tests);
  const rust = tests.filter(({ isRust }) => isRust);
  const others = tests.filter(({ isRust }) => !isRust);
  // Rust tests run guests of the images. Other tests can start the sidecar too.
  await ensureBuilt(others.length > 0 ? { dev: true } : { only: ['guest', 'imager', 'image', 'shell'] });
  for (const call of cargoCalls(rust.map(({ path, filter }) => ({ path, filter })))) await runCargoTests(call, print);
  if (others.length > 0) await runVitest(others);
});
