// Random programs of guest work, files, children, timers, snapshots, clones, rollbacks, pauses and killed sidecars, compared with a plain model.
// What fast-check prints of a failure is the shortest sequence that still fails, and the seed.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { Sidecar } from '../../src/index.js';
import { repetitions } from '../repetitions.js';
import { actions } from './snapshot-model/actions.js';
import { type Ground, World } from './snapshot-model/world.js';

const PROCESS: Ground = {
  open: (directory) => Sidecar.spawn({ snapshots: { directory } }),
  kill: async (sidecar) => {
    process.kill(sidecar.pid, 'SIGKILL');
  },
};
const EMBEDDED: Ground = { open: (directory) => Sidecar.embedded({ snapshots: { directory } }) };

describe.each([
  { name: 'a process', ground: PROCESS, runs: repetitions(150, 1_000) },
  { name: 'embedded', ground: EMBEDDED, runs: repetitions(30, 100) },
])('$name', ({ ground, runs }) => {
  let world: World;
  beforeAll(async () => {
    world = await World.open(ground);
  });
  afterAll(() => world.close());

  test(`a runtime is what the model says, over ${runs} sequences`, { timeout: 600_000 }, async () => {
    const property = fc.asyncProperty(actions, (sequence) => world.play(sequence));
    await fc.assert(property, { numRuns: runs, endOnFailure: process.env['CI'] === 'true' });
  });
});
