// Random programs give the same output on the frozen image, on the guest as it boots, and in V8. A wrong answer on the frozen image alone is the
// silent corruption that immortal objects could cause. `pnpm test:random` runs 100,000.
import { expect, it } from 'vitest';
import { makeGuest, runInV8 } from './random-programs/engines.mjs';
import { generateProgram } from './random-programs/generate.mjs';

const COUNT = Number(process.env.COLDFRAME_RANDOM_PROGRAMS ?? 3000);
const FIRST_SEED = Number(process.env.COLDFRAME_RANDOM_SEED ?? 1);
/** V8 takes longest for each: a fresh context. */
const V8_EVERY = 5;
const MS_PER_PROGRAM = 40;

it(
  `${COUNT} random programs agree, from seed ${FIRST_SEED}`,
  async () => {
    const frozen = makeGuest(true);
    const booted = makeGuest(false);
    for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed++) {
      const program = generateProgram(seed);
      const output = await frozen(program);
      const expected = await booted(program);
      if (output !== expected) expect({ seed, program, output }).toEqual({ seed, program, output: expected });
      if (seed % V8_EVERY !== 0) continue;
      const right = await runInV8(program);
      if (output !== right) expect({ seed, program, output }).toEqual({ seed, program, output: right });
    }
  },
  30_000 + COUNT * MS_PER_PROGRAM,
);
