// Runs the escape suite in shared mode: hostile programs, which must not affect or observe anything
// outside of their runtime. README.md describes how to add a case. `owned.test.ts` and
// `embedded.test.ts` run the suite in the other modes.

import { expect, test } from 'vitest';
import { THEMES } from './cases/index.js';
import { registerCases } from './harness/register.js';

/** The smallest number of cases. The suite may grow and must not shrink. */
const MIN_CASES = 700;

test(`the suite has at least ${MIN_CASES} cases with unique names`, () => {
  const names = THEMES.flatMap((theme) => theme.cases.map((attempt) => attempt.name));
  expect(names.length).toBeGreaterThanOrEqual(MIN_CASES);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

registerCases('shared');
