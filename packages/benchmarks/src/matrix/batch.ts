// A batch: `size` runtimes, `width` of them at a time.
//
// The wall time runs from the first start to the end of the last disposal, failures included: a batch is over when nothing of
// it is left. After `deadline` no further runtime is begun; one always is.

import type { ScenarioAdapter, ScenarioHost } from '../scenarios/adapter.js';
import { now } from '../stats/timer.js';
import { makeSnippets, type Sample, takeSample } from './sample.js';

export interface Batch {
  samples: Sample[];
  wallMs: number;
  complete: boolean;
}

export interface BatchShape {
  size: number;
  width: number;
  /** On the clock of `now()`. */
  deadline: number;
}

export async function runBatch(adapter: ScenarioAdapter, host: ScenarioHost, shape: BatchShape): Promise<Batch> {
  const samples: Sample[] = []; // in order of completion
  const waiting = Array.from({ length: shape.size }, makeSnippets);
  const place = async () => {
    while (waiting.length === shape.size || now() < shape.deadline) {
      const snippets = waiting.pop();
      if (!snippets) return;
      samples.push(await takeSample(adapter, host, snippets));
    }
  };
  const startedAt = now();
  await Promise.all(Array.from({ length: Math.min(shape.width, shape.size) }, place));
  return { samples, wallMs: now() - startedAt, complete: samples.length === shape.size };
}
