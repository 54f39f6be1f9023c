// Registers the tests of all cases in one mode. Each mode has a test file of its own, and so a
// process of its own. In embedded mode the harness watches this process.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLong } from '../../../repetitions.js';
import { THEMES } from '../cases/index.js';
import type { EscapeCase } from './case.js';
import type { Mode } from './place.js';
import { run } from './run.js';
import { closeSuite, openSuite, type Suite } from './suite.js';

/** A hang bound. The neighbour starts and ends within a second on a machine that is not busy. */
const HOOK_MS = 300_000;

const runsIn = (mode: Mode, attempt: EscapeCase): boolean => isLong || mode === 'shared' || attempt.once === undefined;

export function registerCases(mode: Mode): void {
  let suite: Suite;

  beforeAll(async () => {
    suite = await openSuite(mode);
  }, HOOK_MS);

  afterAll(() => closeSuite(suite), HOOK_MS);

  for (const theme of THEMES) {
    const cases = theme.cases.filter((attempt) => runsIn(mode, attempt));
    describe.runIf(cases.length > 0)(theme.name, () => {
      for (const attempt of cases) {
        const work = async (): Promise<void> => {
          const problems = await run(suite, attempt);
          if (problems.length > 0) expect.fail(problems.join('\n'));
        };
        // A case with `fails` runs too, and its test fails when the vulnerability is fixed.
        if (attempt.fails) test.fails(`${attempt.name} (open: ${attempt.fails})`, work);
        else test(attempt.name, work);
      }
    });
  }
}
