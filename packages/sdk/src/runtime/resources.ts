// Reads the resources of a runtime and its sidecar, and combines the two replies.

import type { LimitName } from '../options/limits.js';
import { assertSameLength } from '../protocol/check.js';
import type { RuntimeUsage, SidecarResources } from '../protocol/generated/messages.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';

/** The use of one limit. */
export interface LimitUse {
  /**
   * The present use. For a limit of each program, such as `memoryBytes`, the highest use among the
   * programs.
   */
  used: number;
  /** The highest use so far. */
  high: number;
  /** The limit. */
  max: number;
}

/** The limits whose use is counted: all limits except `wallMs` and the sizes of single objects. */
export type CountedLimit = Exclude<LimitName, 'wallMs' | 'pipeBytes' | 'socketBytes' | 'argvBytes' | 'envBytes' | 'resultBytes'>;

/** The resources of a runtime at one point in time. */
export interface ResourceSnapshot {
  /** The use of each counted limit. */
  limits: Readonly<Record<CountedLimit, LimitUse>>;
  /** Processes, including ended processes that their parents have not waited for. */
  processes: number;
  /** Descriptors of all processes. */
  descriptors: number;
  /** The number of pipes. */
  pipes: number;
  /** The number of sockets. */
  sockets: number;
  /** The number of watches on files. */
  watches: number;
  /** Pending operations of all processes. */
  operations: number;
  /** Processes that wait for a timer. */
  timers: number;
  /** Bytes of linear memory of all processes. */
  memoryBytes: number;
  /** Bytes that wait in pipes, sockets and standard streams, captured output included. */
  bufferedBytes: number;
  /** Bytes of files in memory. */
  filesystemBytes: number;
  /** Files, directories and links in memory. */
  inodes: number;
  /** Processor time of all processes in milliseconds, ended processes included. */
  cpuMs: number;
  /** The resources of all runtimes of the sidecar together. */
  sidecar: SidecarResources;
}

/** Returns the resources of a runtime and its sidecar. */
export async function resourcesOf({ connection, runtime }: RuntimeAccess): Promise<ResourceSnapshot> {
  const usage = connection.request('runtime.resources', { runtime });
  const sidecar = connection.request('resources', {});
  return combined(...(await Promise.all([usage, sidecar])));
}

function combined(usage: RuntimeUsage, sidecar: SidecarResources): ResourceSnapshot {
  assertSameLength(usage.limits, usage.used, usage.high, usage.max);
  const uses = usage.limits.map((name, at): [string, LimitUse] => [
    name,
    { used: usage.used[at] ?? 0, high: usage.high[at] ?? 0, max: usage.max[at] ?? 0 },
  ]);
  const limits = Object.fromEntries(uses) as Record<CountedLimit, LimitUse>;
  const used = (name: CountedLimit) => limits[name]?.used ?? 0;
  const { descriptors, operations, timers, cpuMs, bufferedBytes } = usage;
  return {
    limits,
    processes: used('processes'),
    descriptors,
    pipes: used('pipes'),
    sockets: used('sockets'),
    watches: used('watches'),
    operations,
    timers,
    memoryBytes: used('totalMemoryBytes'),
    bufferedBytes,
    filesystemBytes: used('filesystemBytes'),
    inodes: used('inodes'),
    cpuMs,
    sidecar,
  };
}
