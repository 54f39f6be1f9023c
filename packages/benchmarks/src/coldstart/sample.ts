// Times the life of one runtime: provisioning, first snippet (cold), second snippet (warm),
// disposal.
//
//   start() ......... first exec ......... second exec ......... dispose()
//   |<---------- cold ----------->|<-------- warm -------->|
//
// The cold time and the warm time exclude the disposal. The wall time of the batch, and so the
// amortised time, includes the disposal. One deadline covers the provisioning and the snippets, and
// another deadline the disposal. So setting a timer is no part of the warm time.

import type { Executor } from '../sandbox/executor.js';
import { makeSnippet, problemOf, type Snippet } from '../sandbox/snippet.js';
import { now } from '../statistics/timer.js';
import { withDeadline } from '../suite/deadline.js';
import type { Provisioner, Scenario } from './scenario.js';

/**
 * Milliseconds after which a start counts as hung: much longer than any healthy start.
 */
const HANG_MS = 10_000;

export interface Sample {
  /** The time of the first snippet. Missing if its run was wrong. */
  coldMs?: number;
  warmMs?: number;
  /** Phases of the provisioning and the first snippet. */
  coldPhases: Map<string, number>;
  /** Phases of the second snippet. */
  warmPhases: Map<string, number>;
  failures: string[];
}

/**
 * The two programs of a runtime. A batch makes its programs first, because drawing random numbers
 * takes as long as a fast warm run.
 */
export interface Snippets {
  first: Snippet;
  warm: Snippet;
}

export const makeSnippets = (): Snippets => ({ first: makeSnippet(), warm: makeSnippet() });

export async function takeSample(
  { execPhases }: Pick<Scenario, 'execPhases'>,
  provisioner: Provisioner,
  snippets: Snippets,
  hangMs = HANG_MS,
): Promise<Sample> {
  const sample: Sample = { coldPhases: new Map(), warmPhases: new Map(), failures: [] };
  let executor: Executor | undefined;
  const life = async () => {
    let phases = sample.coldPhases;
    const startedAt = now();
    executor = await provisioner.start((phase, durationMs) => phases.set(phase, durationMs));
    const cold = await timedExec(executor, snippets.first);
    phases.set(execPhases.first, cold.endedAt - cold.startedAt);
    if (cold.problem) sample.failures.push(`first snippet: ${cold.problem}`);
    else sample.coldMs = cold.endedAt - startedAt;
    phases = sample.warmPhases;
    const warm = await timedExec(executor, snippets.warm);
    phases.set(execPhases.warm, warm.endedAt - warm.startedAt);
    if (warm.problem) sample.failures.push(`second snippet: ${warm.problem}`);
    else sample.warmMs = warm.endedAt - warm.startedAt;
  };
  await withDeadline('a runtime', hangMs, life()).catch((error) => sample.failures.push(String(error)));
  if (executor) {
    await withDeadline('dispose', hangMs, executor.dispose()).catch((error) => sample.failures.push(String(error)));
  }
  return sample;
}

async function timedExec(executor: Executor, snippet: Snippet) {
  const startedAt = now();
  // The output is read before the clock stops, so that the time includes the decoding of an output
  // that is decoded at the first access.
  const { stdout, exitCode } = await executor.exec(snippet.code);
  const endedAt = now();
  return { startedAt, endedAt, problem: problemOf(snippet, { stdout, exitCode }) };
}
