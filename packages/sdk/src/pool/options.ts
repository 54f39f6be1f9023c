// The options of `RuntimePool`. This module supplies the classes of the handles, which
// `options/pool.ts` cannot import.

import type { PoolOptions } from '../options/pool.js';
import type { NodeRuntime } from '../runtime/node-runtime.js';
import type { NodeRuntimeOptions } from '../runtime/options.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../sidecar/snapshot.js';

/** Options of a pool's runtimes, without the options that the pool itself sets. */
type SlotOptions = Omit<NodeRuntimeOptions, 'sidecar' | 'snapshot' | 'tenant' | 'idle'>;

/** Options of `new RuntimePool()`. */
export interface RuntimePoolOptions extends PoolOptions<Sidecar, Snapshot, NodeRuntime, SlotOptions> {}
