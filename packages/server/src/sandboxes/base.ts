// The template `base`: a runtime with the home directory and the environment that clients expect.

import { NodeRuntime, type NodeRuntimeOptions, type Sidecar } from 'coldframe';

/** The name of the template. */
export const BASE = 'base';

/** Other names of the template, which clients of the interpreter use. */
const ALIASES: ReadonlySet<string> = new Set([BASE, 'code-interpreter-v1', 'code-interpreter-beta']);

/** Returns whether a reference names the template. */
export const isBase = (reference: string): boolean => ALIASES.has(reference.replace(/:default$/, ''));

/** The home directory and working directory of programs. */
export const HOME = '/home/user';

const MIB = 1 << 20;

/** The limits of a sandbox. Servers and builds use more than the defaults of a single program. */
export const LIMITS: NonNullable<NodeRuntimeOptions['limits']> = {
  // A server runs for as long as its sandbox.
  cpuMs: 2_147_483_647,
  memoryBytes: 512 * MIB,
  totalMemoryBytes: 1_024 * MIB,
  filesystemBytes: 1_024 * MIB,
  inodes: 262_144,
  processes: 1_024,
  descriptors: 1_024,
  // The tools of `/mcp` return captured output. The agent passes output on, and keeps none.
  outputBytes: 256 << 10,
};

/** The limits that clients see as the size of a sandbox. */
export interface Size {
  memoryBytes: number;
  diskBytes: number;
}

/** Returns the limits with the choices of the operator. */
export const limitsOf = (own: NodeRuntimeOptions['limits']) => ({ ...LIMITS, ...own });

/** Returns the size of a sandbox with these limits. */
export const sizeOf = (limits: NonNullable<NodeRuntimeOptions['limits']>): Size => ({
  memoryBytes: limits.totalMemoryBytes as number,
  diskBytes: limits.filesystemBytes as number,
});

/** The parts of a runtime that differ between sandboxes of the template. */
export interface BaseParts extends Pick<NodeRuntimeOptions, 'network' | 'secrets'> {
  sidecar: Sidecar;
  tenant: string;
  limits: NonNullable<NodeRuntimeOptions['limits']>;
  mounts?: NonNullable<NodeRuntimeOptions['mounts']>;
}

/** Makes a runtime of the template `base`. */
export function makeBase({ mounts, ...parts }: BaseParts): Promise<NodeRuntime> {
  const env = { HOME, USER: 'user', LOGNAME: 'user', LANG: 'C.UTF-8' };
  return NodeRuntime.create({ ...parts, env, cwd: HOME, ...(mounts === undefined ? {} : { mounts }) });
}
