// Random programs print equal output on the frozen image, on the booted guest, on the unpatched
// engine (as recorded) and in V8. A difference only on the frozen image is the silent corruption
// that immortal objects could cause. `pnpm test:random` compares 100,000 programs with the
// unpatched engine itself.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeGuest, runInV8 } from './random-programs/engines.mjs';
import { generateProgram } from './random-programs/generate.mjs';
import { shortDigest } from './random-programs/record.mjs';

const { firstSeed, digests: recorded } = JSON.parse(
  readFileSync(new URL('random-programs/recorded.json', import.meta.url), 'utf8'),
);
/** `pnpm test:long` runs all recorded programs, and `pnpm test` every fifth. */
const STEP = process.env.COLDFRAME_TESTS === 'long' ? 1 : 5;
const programs = recorded.map((digest, index) => ({ digest, seed: firstSeed + index })).filter(({ seed }) => seed % STEP === 0);
/**
 * Only every fifth of `programs` also runs in V8, because V8 needs a fresh context for each
 * program.
 */
const V8_EVERY = 5;
const MS_PER_PROGRAM = 60;

it(
  `${programs.length} random programs print equal output on all engines`,
  async () => {
    const frozen = makeGuest(true);
    const booted = makeGuest(false);
    for (const [index, { digest, seed }] of programs.entries()) {
      const program = generateProgram(seed);
      const output = await frozen(program);
      const expected = await booted(program);
      if (output !== expected) expect({ seed, program, output }).toEqual({ seed, program, output: expected });
      if (shortDigest(output) !== digest) expect({ seed, program, digest: shortDigest(output), output }).toEqual({ digest });
      if (index % V8_EVERY !== 0) continue;
      const right = await runInV8(program);
      if (output !== right) expect({ seed, program, output }).toEqual({ seed, program, output: right });
    }
  },
  60_000 + programs.length * MS_PER_PROGRAM,
);
