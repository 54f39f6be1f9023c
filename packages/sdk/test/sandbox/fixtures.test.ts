// Runs the guest fixtures of `packages/runner/fixtures`. The expected results were recorded from
// Node itself. `pnpm test:long` runs every fixture in every mode, as a program and in a resident
// runner. `pnpm test` runs every fixture as a program in the mode `shared`, and in the variant that
// the fixture's index selects.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExecResult, Limits } from '../../src/index.js';
import { isLong } from '../repetitions.js';
import { MODES, type Provisioning } from './modes.js';

interface Fixture {
  name: string;
  source: string;
  stdin: Buffer;
  args: string[];
  env: Record<string, string>;
  limits?: Limits;
  timeoutMs?: number;
  modes?: string[];
  files?: Record<string, string>;
  run?: string;
  execArgv?: string[];
  expected: object;
}

const tools = (await import(new URL('../../../runner/build/fixtures.mjs', import.meta.url).href)) as {
  readFixtures(): Fixture[];
  normalizeRun(run: { exitCode: number; stdout: Buffer; stderr: Buffer }): object;
};
const fixtures = tools.readFixtures();

function comparable(result: ExecResult): object {
  const run = { exitCode: result.exitCode, stdout: Buffer.from(result.stdoutBytes), stderr: Buffer.from(result.stderrBytes) };
  return { ...tools.normalizeRun(run), ...(result.error && { error: result.error.code }) };
}

const inWorkspace = ({ files = {} }: Pick<Fixture, 'files'>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, text]) => [`/workspace/${path}`, text]));

const appliesTo = (mode: string) => (fixture: Fixture) => fixture.modes?.includes(mode) ?? true;
// A runner's process starts before its snippets, so a snippet has neither arguments nor stdin.
const isSnippet = ({ args, stdin }: Fixture): boolean => args.length === 0 && stdin.length === 0;

/** The number of variants of a fixture: each mode, as a program and in a resident runner. */
const VARIANTS = 2 * MODES.length;
const variantOf = (mode: number, isResident: boolean): number => 2 * mode + (isResident ? 1 : 0);
const SHARED_PROGRAM = variantOf(
  MODES.findIndex(({ name }) => name === 'shared'),
  false,
);

const isChosen =
  (variant: number) =>
  (fixture: Fixture): boolean =>
    isLong || variant === SHARED_PROGRAM || fixtures.indexOf(fixture) % VARIANTS === variant;

describe.each(MODES.map((mode, index) => ({ ...mode, index })))('$name', ({ open, index }) => {
  let provisioning: Provisioning;
  beforeAll(async () => {
    provisioning = await open();
  });
  afterAll(() => provisioning.close());

  const programs = fixtures.filter(appliesTo('exec')).filter(isChosen(variantOf(index, false)));
  test.each(programs)('$name', async ({ expected, ...fixture }) => {
    const { source, env, args, stdin, limits, timeoutMs, run, execArgv } = fixture;
    await using runtime = await provisioning.create({ env, limits, files: inWorkspace(fixture) });
    const options = { args, stdin, execArgv, timeout: timeoutMs };
    expect(comparable(run ? await runtime.execFile(run, options) : await runtime.exec(source, options))).toEqual(expected);
  });

  const snippets = fixtures
    .filter(appliesTo('resident'))
    .filter(isSnippet)
    .filter(isChosen(variantOf(index, true)));
  test.each(snippets)('$name, in a resident runner', async ({ source, env, limits, timeoutMs, expected, files }) => {
    await using runtime = await provisioning.create({ env, limits, files: inWorkspace({ files }) });
    await using runner = await runtime.createResidentRunner();
    expect(comparable(await runner.exec(source, { timeout: timeoutMs }))).toEqual(expected);
  });
});
