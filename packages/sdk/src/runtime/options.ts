// The options of `NodeRuntime.create()`. This module supplies the classes of the handles, which
// `options/runtime.ts` cannot import.

import type { RuntimeOptions } from '../options/runtime.js';
import type { Sidecar } from '../sidecar/sidecar.js';
import type { Snapshot } from '../sidecar/snapshot.js';

/** Options of `NodeRuntime.create()`. */
export interface NodeRuntimeOptions extends RuntimeOptions<Sidecar, Snapshot> {}
