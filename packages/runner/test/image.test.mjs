// The images' sizes are budgets: every live sandbox maps its image, every start uses a part of it,
// and an installation stores both images.
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, test } from 'vitest';

const PAGE = 4096;
const HEADER = PAGE;
const BUDGET_MIB = 12;
const SHELL_BUDGET_MIB = 18;
/** The longest run of zeros, in pages: 512 KiB. */
const MOST_ZEROS = 128;

const image = (name) => fileURLToPath(new URL(`../dist/${name}.image`, import.meta.url));
const mapped = (name) => (statSync(image(name)).size - HEADER) / 2 ** 20;

it(`maps at most ${BUDGET_MIB} MiB of the image`, () => {
  expect(mapped('guest')).toBeLessThanOrEqual(BUDGET_MIB);
});

it(`maps at most ${SHELL_BUDGET_MIB} MiB of the image with the shell`, () => {
  expect(mapped('shell')).toBeLessThanOrEqual(SHELL_BUDGET_MIB);
});

// The text of the largest build input leaves a free block of its own size, which later allocations
// must fill.
test.each(['guest', 'shell'])('%s.image has no large free block', (name) => {
  const bytes = readFileSync(image(name));
  const zeros = Buffer.alloc(PAGE);
  let longest = 0;
  for (let at = HEADER, run = 0; at < bytes.length; at += PAGE) {
    run = bytes.compare(zeros, 0, PAGE, at, at + PAGE) === 0 ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  expect(longest).toBeLessThanOrEqual(MOST_ZEROS);
});
