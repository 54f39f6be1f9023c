// What the calls of a runtime, and of what it hands out, do to the slot that it lies in. A call that is not named here is over when its answer has come.

import { asyncDispose } from '../async-dispose.js';
import type { ResidentRunner } from '../runner/resident-runner.js';
import type { GuestProcess } from '../runtime/guest-process.js';
import type { NodeRuntime } from '../runtime/node-runtime.js';
import type { ProcessEntry } from '../runtime/processes.js';
import type { CallRules } from './poolable.js';

/** Those of a runtime. */
export const RUNTIME_CALLS: CallRules = {
  // Limits, permissions and bindings are the caller's and not the guest's, a rollback leaves them alone; a port that is served, or a dispatcher, stays with whoever has
  // it; and of a runtime that was asleep nobody knows who has woken it.
  lasting: new Set<keyof NodeRuntime>([
    'setPermissions',
    'onPermission',
    'registerBindings',
    'unregisterBindings',
    'exposePort',
    'dispatcher',
    'pause',
    'resume',
    'dispose',
    asyncDispose,
  ]),
  // Programs whose start is on its way when the call returns: they end with the rollback. Of a command that is not so; and who spawns one
  // gets a handle on it first.
  begun: new Set<keyof NodeRuntime>(['exec', 'run', 'execFile']),
  handles: new Set<keyof NodeRuntime>(['spawn', 'spawnCommand', 'processes', 'createResidentRunner', 'residentRunners']),
};

/** Those of programs and runners. */
export const HANDLE_CALLS: CallRules = {
  // A program of the template goes on after the rollback, and so would whoever hears it.
  lasting: new Set<keyof ProcessEntry>(['attach']),
  begun: new Set<keyof GuestProcess | keyof ResidentRunner>([
    'exec',
    'wait',
    'writeStdin',
    'closeStdin',
    'kill',
    'dispose',
    asyncDispose,
  ]),
  handles: new Set<keyof ProcessEntry>(['attach']),
};
