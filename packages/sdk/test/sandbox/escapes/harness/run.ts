// Runs one case and returns all problems of its expectation, its output, the neighbour, the sidecar
// and the canary. An empty list means that the sandbox contained the attack.

import type { ExecResult } from '../../../../src/index.js';
import type { Ending, EscapeCase, Expected } from './case.js';
import { leaked } from './facts.js';
import type { CaseFolders } from './folders.js';
import { Place } from './place.js';
import { PRELUDE } from './prelude.js';
import type { Suite } from './suite.js';

const TIMEOUT_MS = 20_000;

interface CaseResult {
  stdout: string;
  stderr: string;
  exitCode: number;
  error?: { code: string };
}

/** Runs a case and returns its problems. */
export async function run(suite: Suite, attempt: EscapeCase): Promise<string[]> {
  const folders = suite.folders.forCase();
  attempt.prepare?.(folders);
  const problems: (string | undefined)[] = [];
  const place = new Place(suite.mode, suite.sidecar, suite.neighbour.snapshot);
  try {
    const result = await execute(attempt, folders, place);
    problems.push(...compare(result, attempt.expected), leaked(`${result.stdout}\n${result.stderr}`, suite.facts));
  } catch (error) {
    problems.push(`the call failed: ${error instanceof Error ? error.stack : error}`);
  }
  problems.push(await reported(() => place.close()));
  problems.push(attempt.after?.(folders));
  problems.push(await reported(() => suite.neighbour.check()));
  problems.push(await reported(() => suite.watch.check()));
  problems.push(suite.folders.canaryProblem());
  return problems.filter((problem) => problem !== undefined);
}

/**
 * Returns the problem of a check. A check that rejects, because the sidecar has ended, is a
 * problem.
 */
async function reported(check: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await check();
  } catch (error) {
    return `the check failed: ${error instanceof Error ? error.stack : error}`;
  }
}

async function execute(attempt: EscapeCase, folders: CaseFolders, place: Place): Promise<CaseResult> {
  const options = typeof attempt.options === 'function' ? attempt.options(folders) : attempt.options;
  const runtime = await place.create(options);
  if (attempt.attack) return { stdout: await attempt.attack(runtime, folders, place), stderr: '', exitCode: 0 };
  const program = typeof attempt.program === 'function' ? attempt.program(folders) : (attempt.program ?? '');
  const code = attempt.bare ? program : `${PRELUDE}\n${program}`;
  return runtime.exec(code, { timeout: TIMEOUT_MS, ...attempt.execOptions });
}

function compare(result: CaseResult | ExecResult, expected: Expected): string[] {
  const ending: Ending =
    typeof expected === 'string' || expected instanceof RegExp ? { stdout: expected, exitCode: 0, error: 'none' } : expected;
  const error = result.error?.code ?? 'none';
  const differ = (wanted: string | RegExp | undefined, got: string): boolean =>
    wanted !== undefined && (typeof wanted === 'string' ? wanted !== got : !wanted.test(got));
  const problems = [];
  if (differ(ending.error, error)) problems.push(`error ${error} instead of ${ending.error}`);
  if (differ(ending.stdout, result.stdout.trim())) problems.push(`${JSON.stringify(result.stdout)} instead of ${ending.stdout}`);
  if (differ(ending.stderr, result.stderr)) problems.push(`stderr ${JSON.stringify(result.stderr)} instead of ${ending.stderr}`);
  if (ending.exitCode !== undefined && ending.exitCode !== result.exitCode)
    problems.push(`exit code ${result.exitCode} instead of ${ending.exitCode}`);
  if (problems.length > 0) problems.push(`stderr was: ${result.stderr.slice(0, 2_000)}`);
  return problems;
}
