// The limits of secure-exec, which are nested by subsystem, as limits of the SDK, which are flat.
// A limit has the rule of the SDK's limit, so that both have the same range.

import { LIMITS, type Limits } from '../options/limits.js';
import { isObject, type Rule, whole } from '../options/rule.js';
import { type AnyTable, objectWith } from '../options/table.js';

const MIB = 1_048_576;

/** Limits by subsystem. A limit that is not set has the value of the SDK's profile `'default'`. */
export interface NestedLimits {
  resources?:
    | {
        maxProcesses?: number | undefined;
        /** Open descriptors of one process. */
        maxOpenFds?: number | undefined;
        maxPipes?: number | undefined;
        maxSockets?: number | undefined;
        /** Bytes that may wait in each direction of a connection. */
        maxSocketBufferedBytes?: number | undefined;
        maxFilesystemBytes?: number | undefined;
        maxInodeCount?: number | undefined;
        maxProcessArgvBytes?: number | undefined;
        maxProcessEnvBytes?: number | undefined;
      }
    | undefined;
  http?: { maxFetchResponseBytes?: number | undefined } | undefined;
  jsRuntime?:
    | {
        /** Memory of one program in MiB: engine, library and heap together. */
        v8HeapLimitMb?: number | undefined;
        cpuTimeLimitMs?: number | undefined;
        wallClockLimitMs?: number | undefined;
        capturedOutputLimitBytes?: number | undefined;
        stdinBufferLimitBytes?: number | undefined;
      }
    | undefined;
  process?: { pendingStdinBytes?: number | undefined } | undefined;
}

/** The limit of the SDK for each limit of a subsystem. */
const NAMES: Readonly<Record<keyof NestedLimits, Readonly<Record<string, keyof Limits>>>> = {
  resources: {
    maxProcesses: 'processes',
    maxOpenFds: 'descriptors',
    maxPipes: 'pipes',
    maxSockets: 'sockets',
    maxSocketBufferedBytes: 'socketBytes',
    maxFilesystemBytes: 'filesystemBytes',
    maxInodeCount: 'inodes',
    maxProcessArgvBytes: 'argvBytes',
    maxProcessEnvBytes: 'envBytes',
  },
  http: { maxFetchResponseBytes: 'fetchResponseBytes' },
  jsRuntime: {
    v8HeapLimitMb: 'memoryBytes',
    cpuTimeLimitMs: 'cpuMs',
    wallClockLimitMs: 'wallMs',
    capturedOutputLimitBytes: 'outputBytes',
    stdinBufferLimitBytes: 'stdinBytes',
  },
  process: { pendingStdinBytes: 'stdinBytes' },
};

const HEAP: Rule = whole(1, 2_048, 'MiB');

const rowsOf = (names: Readonly<Record<string, keyof Limits>>): AnyTable =>
  Object.fromEntries(Object.entries(names).map(([name, own]) => [name, name === 'v8HeapLimitMb' ? HEAP : LIMITS[own]]));

const GROUPS: AnyTable = Object.fromEntries(
  Object.entries(NAMES).map(([group, names]) => [group, objectWith(rowsOf(names), 'an object with limits')]),
);

/** Accepts limits by subsystem. */
export const NESTED_LIMITS: Rule = objectWith(GROUPS, 'an object with the limits of each subsystem');

/** Converts checked limits. */
export function flatLimits(nested: NestedLimits | undefined): Limits | undefined {
  if (nested === undefined) return undefined;
  const limits: Record<string, number> = {};
  for (const [group, names] of Object.entries(NAMES)) {
    const values: unknown = nested[group as keyof NestedLimits];
    if (!isObject(values)) continue;
    for (const [name, own] of Object.entries(names)) {
      const value = values[name] as number | undefined;
      if (value !== undefined) limits[own] = name === 'v8HeapLimitMb' ? value * MIB : value;
    }
  }
  return limits;
}
