// Micro-benchmarks of a guest's call to the sidecar: reading the clock, through the import `clock`,
// in a loop of one program.
//
// A second program has the loop without the call. The difference of the medians is the cost of the
// call, without the loop and the start of the program.

import { NodeRuntime, Sidecar } from 'coldframe';
import { makeSnippet, problemOf } from '../sandbox/snippet.js';
import { now } from '../statistics/timer.js';
import type { MicroGroup, MicroTask } from './task.js';

const CALLS = 20_000;

export const WITH_CALL = 'guest loop with a clock call';
export const WITHOUT_CALL = 'guest loop without it';

export async function systemCallGroup(): Promise<MicroGroup> {
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar });
  const task = (name: string, body: string): MicroTask => ({
    name,
    what: `one of ${CALLS} turns of a loop in one program`,
    operations: CALLS,
    sample: async () => {
      const snippet = makeSnippet();
      const code = `let last = 0; for (let i = 0; i < ${CALLS}; i++) last = ${body}; if (last < 0) throw last; ${snippet.code}`;
      const startedAt = now();
      const { stdout, exitCode } = await runtime.exec(code);
      const elapsed = now() - startedAt;
      const problem = problemOf(snippet, { stdout, exitCode });
      if (problem) throw new Error(problem);
      return elapsed;
    },
  });
  return { tasks: [task(WITH_CALL, 'Date.now()'), task(WITHOUT_CALL, 'i')], close: () => sidecar.dispose() };
}
