// Compares random sequences of guest work, files, children, timers, snapshots, clones, rollbacks,
// pauses and killed sidecars with a plain model. For a failure, fast-check prints the shortest
// failing sequence and the seed.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { Sidecar } from '../../src/index.js';
import { repetitions } from '../repetitions.js';
import { actions } from './snapshot-model/actions.js';
import { SharedSidecar, type SidecarKind } from './snapshot-model/sequence.js';

const PROCESS: SidecarKind = {
  open: (directory) => Sidecar.spawn({ snapshots: { directory } }),
  kill: async (sidecar) => {
    process.kill(sidecar.pid, 'SIGKILL');
  },
};
const EMBEDDED: SidecarKind = { open: (directory) => Sidecar.embedded({ snapshots: { directory } }) };

describe.each([
  { name: 'a process', kind: PROCESS, runs: repetitions(150, 1_000) },
  { name: 'embedded', kind: EMBEDDED, runs: repetitions(30, 100) },
])('$name', ({ kind, runs }) => {
  let shared: SharedSidecar;
  beforeAll(async () => {
    shared = await SharedSidecar.open(kind);
  });
  afterAll(() => shared.close());

  test(`a runtime equals the model after each of ${runs} sequences`, { timeout: 600_000 }, async () => {
    const property = fc.asyncProperty(actions, (sequence) => shared.run(sequence));
    await fc.assert(property, { numRuns: runs, endOnFailure: process.env['CI'] === 'true' });
  });
});
