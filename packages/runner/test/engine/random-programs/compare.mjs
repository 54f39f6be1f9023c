// Runs a random program on all engines and returns the difference, if there is one. The unpatched
// engine and the booted guest run every program. V8, which is slowest, runs some programs.
import { makeGuest, makeReference, runInV8 } from './engines.mjs';
import { generateProgram } from './generate.mjs';

/** @returns {Promise<(seed: number, withV8: boolean) => Promise<object | undefined>>} */
export async function makeComparison() {
  const frozen = makeGuest(true);
  const booted = makeGuest(false);
  const unpatched = await makeReference();
  return async (seed, withV8) => {
    const program = generateProgram(seed);
    const output = await frozen(program);
    const others = { 'as it boots': await booted(program), unpatched: unpatched(program) };
    if (withV8) others.V8 = await runInV8(program);
    for (const [engine, expected] of Object.entries(others))
      if (output !== expected) return { seed, engine, program, output, expected };
    return undefined;
  };
}
