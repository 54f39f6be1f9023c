// So many live runtimes in one sidecar: what each costs, how long making them took, and whether every one of them answers afterwards.
//
// A few are made, asked and disposed of first, so that what the sidecar keeps for itself is there. Then the process is looked at, all are made (each has to
// answer), the process is looked at again, and every one is asked once more. The difference of the two looks divided by those alive is the cost: reading
// what free(1) says, as the field does, would count the page cache of the image for us and hide shared pages for others.

import { type Box, type OpenHost, reason } from '../lifecycle/box.js';
import { type Census, takeCensus } from '../machine/census.js';
import { privateGrowthKib } from '../machine/process-memory.js';
import { withDeadline } from '../matrix/deadline.js';
import { summarize } from '../stats/statistics.js';
import { now } from '../stats/timer.js';
import { type Crowd, type KindName, openCrowd } from './kinds.js';
import { inPlaces } from './places.js';
import { countFailures, type LiveResult, quartersOf } from './result.js';

export interface LiveShape {
  kind: KindName;
  count: number;
  width: number;
  directory: string;
  /** For making them, and again for asking them. */
  limitMs: number;
  census?: (pid: number) => Census;
  progress?: (done: number) => void;
}

const WARMUP = 8;
const CLOSE_MS = 60_000;

export async function measureLive(open: OpenHost, shape: LiveShape): Promise<LiveResult> {
  const { census = takeCensus } = shape;
  const crowd = await openCrowd(shape.kind, open, shape.directory);
  try {
    await warmUp(crowd);
    const before = census(crowd.host.pid);
    const made = await makeAll(crowd, shape);
    const after = census(crowd.host.pid);
    const asked = await askAll(crowd, made.boxes, shape);
    const last = census(crowd.host.pid);
    const live = made.boxes.length;
    const each = (total: number) => (live === 0 ? 0 : total / live);
    const { readinessFailed, refused } = made;
    const outcomes = { success: live - asked.failed, partial: asked.failed, readinessFailed, refused };
    return {
      kind: shape.kind,
      count: shape.count,
      live,
      width: shape.width,
      outcomes,
      successRate: outcomes.success / shape.count,
      failures: countFailures([...made.failures, ...asked.failures]),
      privateKib: each(privateGrowthKib(before.memory, after.memory)),
      pageTablesKib: each(after.memory.pageTablesKib - before.memory.pageTablesKib),
      pssKib: each(after.memory.pssKib - before.memory.pssKib),
      mappings: each(after.mappings - before.mappings),
      descriptors: each(after.descriptors - before.descriptors),
      privateKibAfterProbe: each(privateGrowthKib(before.memory, last.memory)),
      createMs: summarize(made.ms.filter((value) => value !== undefined)),
      quarters: quartersOf(made.ms),
      createWallMs: made.wallMs,
      probeMs: summarize(asked.ms),
      probeWallMs: asked.wallMs,
      samples: { createMs: made.ms.map((value) => value ?? 0), probeMs: asked.ms },
      before,
      after,
    };
  } finally {
    await withDeadline('closing the sidecar', CLOSE_MS, crowd.host.close());
  }
}

async function warmUp(crowd: Crowd): Promise<void> {
  for (let round = 0; round < WARMUP; round++) {
    const box = await crowd.make();
    await crowd.probe(box);
    await box.dispose();
  }
}

async function makeAll(crowd: Crowd, { count: total, width, limitMs, progress = () => {} }: LiveShape) {
  const boxes: Box[] = [];
  const failures: string[] = [];
  const ms: (number | undefined)[] = Array.from({ length: total }, () => undefined);
  let [readinessFailed, refused] = [0, 0];
  const startedAt = now();
  const notBegun = await inPlaces({ count: total, width, deadline: startedAt + limitMs }, async (index) => {
    const from = now();
    let box: Box | undefined;
    try {
      box = await crowd.make();
      await crowd.probe(box);
      ms[index] = now() - from;
      boxes.push(box);
    } catch (error) {
      failures.push(reason(error));
      if (box) readinessFailed++;
      else refused++;
    }
    progress(boxes.length + failures.length);
  });
  failures.push(...Array.from({ length: notBegun }, () => 'no time left to make it'));
  return { boxes, failures, ms, readinessFailed, refused: refused + notBegun, wallMs: now() - startedAt };
}

async function askAll(crowd: Crowd, boxes: readonly Box[], { limitMs }: LiveShape) {
  const failures: string[] = [];
  const ms: number[] = [];
  const startedAt = now();
  const places = { count: boxes.length, width: PROBES_AT_ONCE, deadline: startedAt + limitMs };
  const notAsked = await inPlaces(places, async (index) => {
    const box = boxes[index];
    const from = now();
    try {
      if (box) await crowd.probe(box);
      ms.push(now() - from);
    } catch (error) {
      failures.push(`asked again: ${reason(error)}`);
    }
  });
  failures.push(...Array.from({ length: notAsked }, () => 'no time left to ask it'));
  return { failures, failed: failures.length, ms, wallMs: now() - startedAt };
}

const PROBES_AT_ONCE = 16;
