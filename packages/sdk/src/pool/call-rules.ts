// The effect of each call of a lent runtime, and of its programs and runners, on the slot. A call
// that is not listed returns a promise, and the call has ended when the promise settles.

import { asyncDispose } from '../async-dispose.js';
import type { GuestProcess } from '../programs/guest-process.js';
import type { ProcessEntry } from '../programs/runtime-programs.js';
import type { ResidentRunner } from '../runner/resident-runner.js';
import type { NodeRuntime } from '../runtime/node-runtime.js';
import type { CallRules } from './slot-source.js';

/** The names of a class's calls that return no promise. */
type ImmediateCall<T> = {
  [Name in keyof T]: T[Name] extends (...args: never[]) => infer Result
    ? Result extends Promise<unknown>
      ? never
      : Name
    : never;
}[keyof T];

/** Complete by its type: a new call without a promise does not compile until it is listed here. */
const IMMEDIATE: Readonly<Record<ImmediateCall<NodeRuntime>, true>> = {
  connect: true,
  createReadStream: true,
  createWriteStream: true,
  dispatcher: true,
  exportTar: true,
  watch: true,
};

/** The calls of a runtime. */
export const RUNTIME_CALLS: CallRules = {
  // A rollback does not undo limits, permissions and bindings, because they belong to the app. An
  // exposed port or a dispatcher stays with its user. After a pause, a resumption has no known
  // origin.
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
  // These calls have sent the start of a program when they return, and a rollback ends the program.
  // A command is resolved first, and a spawned program has a handle.
  startsProgram: new Set<keyof NodeRuntime>(['exec', 'run', 'execFile']),
  returnsHandles: new Set<keyof NodeRuntime>(['spawn', 'spawnCommand', 'processes', 'createResidentRunner', 'residentRunners']),
  immediate: new Set(Object.keys(IMMEDIATE)),
};

/** The calls of programs and runners. */
export const HANDLE_CALLS: CallRules = {
  // A program of the template continues after the rollback, and its handle would work too.
  lasting: new Set<keyof ProcessEntry>(['attach']),
  startsProgram: new Set<keyof GuestProcess | keyof ResidentRunner>([
    'exec',
    'wait',
    'writeStdin',
    'closeStdin',
    'kill',
    'dispose',
    asyncDispose,
  ]),
  returnsHandles: new Set<keyof ProcessEntry>(['attach']),
  immediate: new Set(),
};
