// Opens the sides of the matrix: Coldframe's four modes, and Node.

import { openEmbedded, spawnShared } from '../sandbox/sidecars.js';
import type { Side } from './lane.js';
import { nodeSide } from './node-lane.js';
import { runtimeSide } from './runtime-lane.js';

export const MODE_NAMES = ['owned', 'shared', 'resident', 'embedded'] as const;
export const SIDE_NAMES = [...MODE_NAMES, 'node'] as const;

export type SideName = (typeof SIDE_NAMES)[number];

export type OpenSide = (scratch: string) => Promise<Side>;

export const openSides: Readonly<Record<SideName, OpenSide>> = {
  owned: async (scratch) => runtimeSide({ scratch }),
  shared: async (scratch) => runtimeSide({ scratch, sidecar: await spawnShared() }),
  resident: async (scratch) => runtimeSide({ scratch, sidecar: await spawnShared(), isResident: true }),
  embedded: async (scratch) => runtimeSide({ scratch, sidecar: await openEmbedded() }),
  node: async (scratch) => nodeSide(scratch),
};
