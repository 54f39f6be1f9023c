// The effect of each call of a lent runtime, and of its programs and runners, on the slot. A call
// that is not listed in this module returns a promise, and ends when the promise settles.

import { asyncDispose } from '../async-dispose.js';
import type { RunOptions } from '../options/programs.js';
import type { OutsideNetwork } from '../outside/runtime-outside.js';
import type { GuestProcess } from '../programs/guest-process.js';
import type { ProcessEntry } from '../programs/runtime-programs.js';
import type { Terminal } from '../programs/terminal.js';
import type { ResidentRunner } from '../runner/resident-runner.js';
import type { NodeRuntime } from '../runtime/node-runtime.js';
import type { RuntimeSecrets } from '../secrets/runtime-secrets.js';
import type { CallRules } from './slot-source.js';

/** The names of a class's calls that return no promise. */
type ImmediateCall<T> = {
  [Name in keyof T]: T[Name] extends (...args: never[]) => infer Result
    ? Result extends Promise<unknown>
      ? never
      : Name
    : never;
}[keyof T];

/**
 * The type requires every call without a promise, so a new call of this kind does not compile until
 * the call is listed here.
 */
const IMMEDIATE: Readonly<Record<ImmediateCall<NodeRuntime>, true>> = {
  connect: true,
  createReadStream: true,
  createWriteStream: true,
  dispatcher: true,
  exportTar: true,
  watch: true,
};

/** The rules for the calls of a runtime. */
export const RUNTIME_CALLS: CallRules = {
  // A rollback does not undo limits, permissions and bindings, because they belong to the app. The
  // user may keep an exposed port or a dispatcher. The pool replaces a slot whose user has paused
  // or disposed the runtime.
  lasting: new Set<keyof NodeRuntime>([
    'setPermissions',
    'onPermission',
    'registerBindings',
    'unregisterBindings',
    'exposePort',
    'dispatcher',
    'attach',
    'pause',
    'resume',
    'dispose',
    asyncDispose,
  ]),
  // When these calls return, they have sent the request that starts a program, and a rollback ends
  // the program. `execCommand()` is not listed because it first resolves the command. `spawn()` is
  // not listed because its program has a handle.
  startsProgram: new Set<keyof NodeRuntime>(['exec', 'run', 'execFile']),
  // These calls check the option `cwd` before they start the program.
  checksFirst: ([, options]) => (options as RunOptions | undefined)?.cwd !== undefined,
  returnsHandles: new Set<keyof NodeRuntime>([
    'spawn',
    'spawnCommand',
    'openTerminal',
    'attach',
    'processes',
    'createResidentRunner',
    'residentRunners',
  ]),
  immediate: new Set(Object.keys(IMMEDIATE)),
};

/** The rules for the calls of programs and runners. */
export const HANDLE_CALLS: CallRules = {
  // A program of the template continues after a rollback, so the previous user's handle from
  // `attach` would still work.
  lasting: new Set<keyof ProcessEntry>(['attach']),
  startsProgram: new Set<keyof GuestProcess | keyof ResidentRunner | keyof Terminal>([
    'exec',
    'wait',
    'write',
    'resize',
    'writeStdin',
    'closeStdin',
    'kill',
    'dispose',
    asyncDispose,
  ]),
  returnsHandles: new Set<keyof ProcessEntry>(['attach']),
  immediate: new Set<keyof GuestProcess>(['detach']),
};

// A rollback undoes neither options nor listeners.
const NETWORK_CALLS: CallRules = {
  lasting: new Set<keyof OutsideNetwork>(['update', 'on']),
  startsProgram: new Set(),
  returnsHandles: new Set(),
  immediate: new Set<keyof OutsideNetwork>(['get', 'flows']),
};

const SECRETS_CALLS: CallRules = {
  lasting: new Set<keyof RuntimeSecrets>(['set', 'delete']),
  startsProgram: new Set(),
  returnsHandles: new Set(),
  immediate: new Set<keyof RuntimeSecrets>(['list']),
};

/** The rules for the calls of a runtime's parts. */
export const PART_CALLS: ReadonlyMap<PropertyKey, CallRules> = new Map([
  ['network' satisfies keyof NodeRuntime, NETWORK_CALLS],
  ['secrets' satisfies keyof NodeRuntime, SECRETS_CALLS],
]);
