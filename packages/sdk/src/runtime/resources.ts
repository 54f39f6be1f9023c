// What a runtime and its sidecar have in use, from two replies into one snapshot.

import type { RuntimeUsage, SidecarResourceSnapshot } from '../channel/messages.js';
import type { LimitName } from '../options/limits.js';

/** What is used of a limit. */
export interface LimitUse {
  /** How much now. Of what each program has for itself, such as `memoryBytes`, it is what the one with most of it has. */
  used: number;
  /** How much at most so far. */
  high: number;
  /** The limit. */
  max: number;
}

/** The limits whose use can be counted: all but the sizes of single things. */
export type CountedLimit = Exclude<LimitName, 'wallMs' | 'pipeBytes' | 'socketBytes' | 'argvBytes' | 'envBytes' | 'resultBytes'>;

/** What a runtime has in use at one moment. */
export interface ResourceSnapshot {
  /** Each limit that can be counted: what is used of it, and was used at most. */
  limits: Readonly<Record<CountedLimit, LimitUse>>;
  /** Processes, ended ones that nobody has asked about included. */
  processes: number;
  /** Descriptors of all its processes. */
  descriptors: number;
  /** Pipes. */
  pipes: number;
  /** Sockets. */
  sockets: number;
  /** Watches on files. */
  watches: number;
  /** Operations of all its processes that are under way. */
  operations: number;
  /** Processes that wait for a timer. */
  timers: number;
  /** Bytes of linear memory of all its processes. */
  memoryBytes: number;
  /** Bytes that wait in its pipes, sockets and standard streams, captured output included. */
  bufferedBytes: number;
  /** Bytes of its files in memory. */
  filesystemBytes: number;
  /** Files, directories and links that it has made in memory. */
  inodes: number;
  /** Milliseconds of processor time of all its processes, ended ones included. */
  cpuMs: number;
  /** The same for all runtimes of the sidecar together. */
  sidecar: SidecarResourceSnapshot;
}

/** Puts a snapshot together. */
export function snapshotOf(usage: RuntimeUsage, sidecar: SidecarResourceSnapshot): ResourceSnapshot {
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
