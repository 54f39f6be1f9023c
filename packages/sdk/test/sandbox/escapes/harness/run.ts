// Tries one case, and says everything that is wrong afterwards: with its own expectation, with what came out, with the neighbour, with the
// sidecar, with the canary. An empty list is a wall that held.

import { type ExecResult, NodeRuntime } from '../../../../src/index.js';
import type { Ending, EscapeCase, Expected } from './case.js';
import { leaked } from './facts.js';
import type { Place } from './place.js';
import { PRELUDE } from './prelude.js';
import type { Scene } from './scene.js';

const PATIENCE_MS = 20_000;

interface Tried {
  stdout: string;
  stderr: string;
  exitCode: number;
  error?: { code: string };
}

/** See the module. */
export async function run(scene: Scene, attempt: EscapeCase): Promise<string[]> {
  const place = scene.ground.place();
  attempt.prepare?.(place);
  const problems: (string | undefined)[] = [];
  try {
    const tried = await tryIt(scene, attempt, place);
    problems.push(...compare(tried, attempt.expected), leaked(`${tried.stdout}\n${tried.stderr}`, scene.facts));
  } catch (error) {
    problems.push(`the call failed: ${error instanceof Error ? error.stack : error}`);
  }
  problems.push(attempt.after?.(place));
  problems.push(await scene.neighbour.look());
  problems.push(await scene.watch.look());
  problems.push(scene.ground.lookAtCanary());
  return problems.filter((problem) => problem !== undefined);
}

async function tryIt(scene: Scene, attempt: EscapeCase, place: Place): Promise<Tried> {
  const options = typeof attempt.options === 'function' ? attempt.options(place) : attempt.options;
  const runtime = await NodeRuntime.create({ ...options, sidecar: scene.sidecar });
  try {
    if (attempt.attack) return { stdout: await attempt.attack(runtime, place), stderr: '', exitCode: 0 };
    const program = typeof attempt.program === 'function' ? attempt.program(place) : (attempt.program ?? '');
    const code = attempt.bare ? program : `${PRELUDE}\n${program}`;
    return await runtime.exec(code, { timeout: PATIENCE_MS, ...attempt.how });
  } finally {
    await runtime.dispose();
  }
}

function compare(tried: Tried | ExecResult, expected: Expected): string[] {
  const ending: Ending =
    typeof expected === 'string' || expected instanceof RegExp ? { stdout: expected, exitCode: 0, error: 'none' } : expected;
  const error = tried.error?.code ?? 'none';
  const differ = (wanted: string | RegExp | undefined, got: string): boolean =>
    wanted !== undefined && (typeof wanted === 'string' ? wanted !== got : !wanted.test(got));
  const problems = [];
  if (differ(ending.error, error)) problems.push(`error ${error} instead of ${ending.error}`);
  if (differ(ending.stdout, tried.stdout.trim())) problems.push(`${JSON.stringify(tried.stdout)} instead of ${ending.stdout}`);
  if (differ(ending.stderr, tried.stderr)) problems.push(`stderr ${JSON.stringify(tried.stderr)} instead of ${ending.stderr}`);
  if (ending.exitCode !== undefined && ending.exitCode !== tried.exitCode)
    problems.push(`exit code ${tried.exitCode} instead of ${ending.exitCode}`);
  if (problems.length > 0) problems.push(`stderr was: ${tried.stderr.slice(0, 2_000)}`);
  return problems;
}
