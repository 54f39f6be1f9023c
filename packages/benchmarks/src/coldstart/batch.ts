// Runs a batch: `size` runtimes, `width` of them at a time.
//
// The wall time runs from the first start to the end of the last disposal, failures included. After
// the deadline no further runtime is started, but each batch starts at least one runtime.

import { now } from '../statistics/timer.js';
import { runConcurrently } from '../suite/concurrency.js';
import { makeSnippets, type Sample, takeSample } from './sample.js';
import type { Provisioner, Scenario } from './scenario.js';

export interface Batch {
  /** One sample for each runtime, in order of completion. */
  samples: Sample[];
  wallMs: number;
}

export interface BatchShape {
  size: number;
  width: number;
  /** The deadline, in milliseconds of the clock of `now()`. */
  deadline: number;
}

export async function runBatch(
  scenario: Pick<Scenario, 'execPhases'>,
  provisioner: Provisioner,
  { size, width, deadline }: BatchShape,
): Promise<Batch> {
  const samples: Sample[] = [];
  const snippets = Array.from({ length: size }, makeSnippets);
  const startedAt = now();
  await runConcurrently({ count: size, width, deadline, atLeast: 1 }, async (index) => {
    samples.push(await takeSample(scenario, provisioner, snippets[index] ?? makeSnippets()));
  });
  return { samples, wallMs: now() - startedAt };
}
