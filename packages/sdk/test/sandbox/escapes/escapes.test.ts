// Runs the escape suite: hostile programs, which must not affect or observe anything outside of
// their runtime. README.md describes how to add a case.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { THEMES } from './cases/index.js';
import { run } from './harness/run.js';
import { closeSuite, openSuite, type Suite } from './harness/suite.js';

/** The smallest number of cases. The suite may grow and must not shrink. */
const MIN_CASES = 150;

let suite: Suite;

beforeAll(async () => {
  suite = await openSuite();
});

afterAll(() => closeSuite(suite));

test('the suite has at least 150 cases with unique names', () => {
  const names = THEMES.flatMap((theme) => theme.cases.map((attempt) => attempt.name));
  expect(names.length).toBeGreaterThanOrEqual(MIN_CASES);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

for (const theme of THEMES) {
  describe(theme.name, () => {
    for (const attempt of theme.cases) {
      const work = async (): Promise<void> => expect(await run(suite, attempt)).toEqual([]);
      // A case with `fails` runs too, and its test fails when the vulnerability is fixed.
      if (attempt.fails) test.fails(`${attempt.name} (open: ${attempt.fails})`, work);
      else test(attempt.name, work);
    }
  });
}
