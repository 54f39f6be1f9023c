// Tests `coldframe/secure-exec` with the subjects of secure-exec's examples, and with documented
// behaviour of secure-exec. Prints the number of cases that hold.

import { afterAll, describe, expect, test } from 'vitest';
import { shutdown } from '../../../src/secure-exec/index.js';
import type { Case } from './cases.js';
import { CLASS_CHECKS } from './class-checks.js';
import { EXAMPLES } from './examples.js';
import { VM_CHECKS } from './vm-checks.js';

const CHECKS: readonly Case[] = [...CLASS_CHECKS, ...VM_CHECKS];

const held = new Set<Case>();

function testCases(cases: readonly Case[]): void {
  test.each(cases.map((one) => [one.differs === undefined ? one.name : `${one.name}: ${one.differs}`, one] as const))(
    '%s',
    async (_, one) => {
      await one.check();
      if (one.differs === undefined) held.add(one);
    },
  );
}

const countOf = (cases: readonly Case[]): number => cases.filter((one) => held.has(one)).length;

afterAll(shutdown);

describe('examples', () => testCases(EXAMPLES));
describe('documented behaviour', () => testCases(CHECKS));

test('all examples and 45 of 51 checks hold', () => {
  const [examples, checks] = [countOf(EXAMPLES), countOf(CHECKS)];
  process.stdout.write(`secure-exec: ${examples} of ${EXAMPLES.length} examples, ${checks} of ${CHECKS.length} checks\n`);
  expect([examples, EXAMPLES.length, CHECKS.length]).toEqual([18, 18, 51]);
  expect(checks).toBeGreaterThanOrEqual(45);
});
