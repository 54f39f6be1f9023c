// The template `base`: a runtime with the home directory and the environment that clients expect.

import { NodeRuntime, type NodeRuntimeOptions, type Sidecar } from 'coldframe';

/** The name of the template. */
export const BASE = 'base';

/** The home directory and working directory of programs. */
export const HOME = '/home/user';

const MIB = 1 << 20;

// Servers and builds in a sandbox use more than the defaults of a single program.
const LIMITS: NonNullable<NodeRuntimeOptions['limits']> = {
  cpuMs: 2_147_483_647,
  memoryBytes: 512 * MIB,
  filesystemBytes: 1_024 * MIB,
  inodes: 262_144,
  processes: 1_024,
  descriptors: 1_024,
  // The tools of `/mcp` return captured output. Programs of clients stream their output.
  outputBytes: 256 << 10,
};

/** The limits that clients see as the size of a sandbox. */
export const SIZE = { memoryBytes: LIMITS.memoryBytes as number, diskBytes: LIMITS.filesystemBytes as number };

/** Makes a runtime of the template `base`. */
export function makeBase(sidecar: Sidecar, tenant: string): Promise<NodeRuntime> {
  const env = { HOME, USER: 'user', LOGNAME: 'user', LANG: 'C.UTF-8' };
  return NodeRuntime.create({ sidecar, tenant, env, cwd: HOME, limits: LIMITS });
}
