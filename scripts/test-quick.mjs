// `pnpm test:quick [--since COMMIT]`: runs the checks and tests that a small change can break, on a
// development build, in about two minutes. Before a change is complete, `pnpm test` must run all
// checks and tests.

import { existsSync, readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { cargo } from './build/cargo.mjs';
import { fromRoot, root } from './build/paths.mjs';
import { run } from './build/run.mjs';
import { ensureBuilt, runMain } from './build.mjs';
import { kindOf } from './prose/files.mjs';
import { runCargoTests } from './suites/cargo-tests.mjs';
import { changedFiles, isGuest, isProduct, isScript, rustCalls } from './suites/changes.mjs';
import { runSuites } from './suites/report.mjs';
import { GUEST_SMOKE, SMOKE } from './suites/smoke.mjs';

const HELP = `pnpm test:quick [--since COMMIT]   runs what the present changes can break soonest
  Without --since: the changes since the last commit, or those of the last commit.
`;

const suite = (name, work) => ({
  name,
  run: async (print) => {
    await work(print);
    return { passed: 1, failed: 0 };
  },
});

const biome = fromRoot('node_modules/.bin/biome');
const vitest = [fromRoot('node_modules/vitest/vitest.mjs')];

/** Tests that need a release build, or that take long. */
const LATER = ['package-contents.test.mjs', 'conformance.test.mjs'];

/**
 * Tests of the repository itself that need no build: documents, links, limits, versions. The files
 * are listed, because vitest ignores `--exclude` in a configuration with projects.
 */
const REPOSITORY = readdirSync(fromRoot('scripts/test'))
  .filter((name) => name.endsWith('.test.mjs') && !LATER.includes(name))
  .map((name) => `scripts/test/${name}`);

function suitesFor(files) {
  const existing = files.filter((file) => existsSync(fromRoot(file)));
  const scripts = existing.filter(isScript);
  const prose = existing.filter(kindOf);
  const crates = rustCalls(existing);
  const hasRust = existing.some((file) => file.endsWith('.rs'));
  const runVitest = (print, ...args) => run(process.execPath, [...vitest, ...args], { onLine: print, env: { NO_COLOR: '1' } });
  const local = ['ci', '--error-on-warnings', '--colors=off', '--no-errors-on-unmatched', ...existing];
  return [
    suite('build', () => ensureBuilt({ dev: true })),
    suite('biome', (print) => run(biome, local, { onLine: print })),
    prose.length > 0 && suite('prose', (print) => run(process.execPath, ['scripts/prose.mjs', ...prose], { onLine: print })),
    scripts.length > 0 &&
      suite('types', (print) => run(`${root}/node_modules/.bin/tsc`, ['-p', 'tsconfig.tests.json'], { onLine: print })),
    hasRust && suite('rustfmt', (print) => cargo(['fmt', '--all', '--check'], print)),
    ...crates.map((call) => suite(`Rust: ${[call.crate, ...call.filters].join(' ')}`, (print) => runCargoTests(call, print))),
    suite('repository', (print) => runVitest(print, 'run', '--project', 'unit', ...REPOSITORY)),
    scripts.length > 0 &&
      suite('related', (print) => runVitest(print, 'related', '--run', '--project', 'unit', '--passWithNoTests', ...scripts)),
    existing.some(isProduct) && suite('sandbox', (print) => runVitest(print, 'run', ...SMOKE)),
    existing.some(isGuest) && suite('guest', (print) => runVitest(print, 'run', ...GUEST_SMOKE)),
  ].filter(Boolean);
}

await runMain(async () => {
  const { values } = parseArgs({ options: { since: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help) return process.stdout.write(HELP);
  const files = changedFiles(values.since);
  process.stdout.write(`${files.length} changed files\n`);
  if (!(await runSuites(suitesFor(files)))) process.exitCode = 1;
});
