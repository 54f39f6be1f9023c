// Provides a scenario without a sandbox. The scenario executes exactly the programs that
// `makeSnippet` makes, and can reply wrongly.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Scenario } from '../../src/coldstart/scenario.js';
import type { ExecResult } from '../../src/sandbox/snippet.js';

export interface FakeOptions {
  /** Changes the result of run number `run` (from 0, over all runtimes). */
  answer?: (right: ExecResult, run: number) => ExecResult | Promise<ExecResult>;
  startMs?: number;
  /** Called before the start of runtime number `runtime`. Can throw, or never resolve. */
  start?: (runtime: number) => Promise<void>;
}

export interface Counters {
  live: number;
  mostLive: number;
  opened: number;
  closed: number;
  started: number;
}

export function fakeScenario(options: FakeOptions = {}): { scenario: Scenario; counters: Counters } {
  const counters: Counters = { live: 0, mostLive: 0, opened: 0, closed: 0, started: 0 };
  let runs = 0;
  const exec = async (code: string) => {
    const run = runs++;
    return (await options.answer?.(evaluate(code), run)) ?? evaluate(code);
  };
  const scenario: Scenario = {
    execPhases: { first: 'first_exec', warm: 'warm_exec' },
    startGuessMs: 1,
    hasSetup: true,
    targets: [],
    open: async () => {
      counters.opened++;
      return {
        start: async (onPhase) => {
          await options.start?.(counters.started++);
          counters.mostLive = Math.max(counters.mostLive, ++counters.live);
          await sleep(options.startMs ?? 0);
          onPhase('vm_create', 0.5);
          return {
            exec,
            dispose: async () => {
              counters.live--;
            },
          };
        },
        close: async () => {
          counters.closed++;
        },
      };
    },
  };
  return { scenario, counters };
}

function evaluate(code: string): ExecResult {
  const match = /^console\.log\('([0-9a-f]+)', (\d+) \* (\d+) \+ (\d+)\);$/.exec(code);
  if (!match) return { stdout: '', exitCode: 1 };
  const [, token, a, b, c] = match;
  return { stdout: `${token} ${Number(a) * Number(b) + Number(c)}\n`, exitCode: 0 };
}
