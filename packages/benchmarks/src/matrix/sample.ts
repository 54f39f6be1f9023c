// One runtime's life, timed: provision, first snippet (cold), second snippet (warm), dispose.
//
//   start() ......... first exec ......... second exec ......... dispose()
//   |<---------- cold ----------->|<-------- warm -------->|
//
// Disposal lies outside both windows; it counts in the batch's wall time and so in the amortised figure. One deadline stands
// around the whole life: its timer is set before the clock starts, so that what is timed is the awaited calls alone.

import type { Instance, ScenarioAdapter, ScenarioHost } from '../scenarios/adapter.js';
import { makeSnippet, type Snippet, whatIsWrong } from '../scenarios/snippet.js';
import { now } from '../stats/timer.js';
import { withDeadline } from './deadline.js';

/** Longer than any healthy start by orders of magnitude: reaching it means that something hangs. */
const HANG_MS = 10_000;

export interface Sample {
  /** Only when the run was right. */
  coldMs?: number;
  warmMs?: number;
  /** Phases of the provisioning and the first snippet, and of the second one. */
  coldPhases: Map<string, number>;
  warmPhases: Map<string, number>;
  failures: string[];
}

/** The two programs of one runtime. Made before a batch begins: drawing random numbers takes as long as a fast warm run. */
export interface Snippets {
  first: Snippet;
  warm: Snippet;
}

export const makeSnippets = (): Snippets => ({ first: makeSnippet(), warm: makeSnippet() });

export async function takeSample(
  adapter: ScenarioAdapter,
  host: ScenarioHost,
  snippets: Snippets,
  hangMs = HANG_MS,
): Promise<Sample> {
  const sample: Sample = { coldPhases: new Map(), warmPhases: new Map(), failures: [] };
  let instance: Instance | undefined;
  const life = async () => {
    let phases = sample.coldPhases;
    const startedAt = now();
    instance = await host.start((phase, durationMs) => phases.set(phase, durationMs));
    const cold = await timedExec(instance, snippets.first);
    phases.set(adapter.execPhases.first, cold.endedAt - cold.startedAt);
    if (cold.wrong) sample.failures.push(`first snippet: ${cold.wrong}`);
    else sample.coldMs = cold.endedAt - startedAt;
    phases = sample.warmPhases;
    const warm = await timedExec(instance, snippets.warm);
    phases.set(adapter.execPhases.warm, warm.endedAt - warm.startedAt);
    if (warm.wrong) sample.failures.push(`second snippet: ${warm.wrong}`);
    else sample.warmMs = warm.endedAt - warm.startedAt;
  };
  await withDeadline('a runtime', hangMs, life()).catch((error) => sample.failures.push(String(error)));
  if (instance) {
    await withDeadline('dispose', hangMs, instance.dispose()).catch((error) => sample.failures.push(String(error)));
  }
  return sample;
}

async function timedExec(instance: Instance, snippet: Snippet) {
  const startedAt = now();
  // Taken apart within the window: a result that decodes its output when it is asked has to do so here.
  const { stdout, exitCode } = await instance.exec(snippet.code);
  const endedAt = now();
  return { startedAt, endedAt, wrong: whatIsWrong(snippet, { stdout, exitCode }) };
}
