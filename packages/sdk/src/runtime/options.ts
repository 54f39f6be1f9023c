// The options of `NodeRuntime.create()`, with the classes of their handles.

import type { RuntimeOptions } from '../options/runtime.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../sidecar/snapshot.js';

/** Options of `NodeRuntime.create()`. */
export interface NodeRuntimeOptions extends RuntimeOptions<Sidecar, Snapshot> {}
