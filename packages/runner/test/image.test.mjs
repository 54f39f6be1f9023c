// The image's size is a budget: every live sandbox maps the image, and every start uses a part of
// it.
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const image = fileURLToPath(new URL('../dist/guest.image', import.meta.url));
const HEADER = 4096;
const BUDGET_MIB = 12;

it(`maps at most ${BUDGET_MIB} MiB of the image`, () => {
  expect((statSync(image).size - HEADER) / 2 ** 20).toBeLessThanOrEqual(BUDGET_MIB);
});
