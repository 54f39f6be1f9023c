// All floors, in the order in which they are measured and shown.

import { pinnedNode } from '../machine/pinned-node.js';
import type { FloorDefinition } from './floor.js';
import { pingFloor } from './ping.js';
import { spawnFloor } from './spawn.js';
import { workerFloor } from './worker.js';

export const floors: readonly FloorDefinition[] = [
  spawnFloor('bin_true', 'spawn /bin/true to its exit', () => '/bin/true', []),
  spawnFloor('node_e_pinned', 'spawn `node -e 1` of the pinned Node 24 to its exit', pinnedNode, ['-e', '1']),
  spawnFloor('node_e_host', 'spawn `node -e 1` of the Node running this to its exit', () => process.execPath, ['-e', '1']),
  workerFloor,
  pingFloor,
];
