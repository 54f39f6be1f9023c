// A guest's system call, seen from inside: the clock, the cheapest one there is, in a loop of one program.
//
// The loop itself and the start of the program are measured by the same program without the call; `cli/micro.ts` subtracts the medians.

import { NodeRuntime, Sidecar } from 'coldframe';
import { makeSnippet, whatIsWrong } from '../scenarios/snippet.js';
import { now } from '../stats/timer.js';
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
      const wrong = whatIsWrong(snippet, { stdout, exitCode });
      if (wrong) throw new Error(wrong);
      return elapsed;
    },
  });
  return { tasks: [task(WITH_CALL, 'Date.now()'), task(WITHOUT_CALL, 'i')], close: () => sidecar.dispose() };
}
