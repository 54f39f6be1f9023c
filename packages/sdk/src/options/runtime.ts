// Options of `NodeRuntime.create()`. The types of the handles are parameters, because the classes
// of the handles import the options. `runtime/options.ts` supplies the types.

import { BINDINGS, type Bindings } from './bindings.js';
import type { BootTimingListener } from './boot-timing.js';
import type { FileSystemMount } from './file-system.js';
import { isSidecar } from './handles.js';
import { IDLE_POLICY, type IdleOptions } from './idle.js';
import { LIMIT_OPTIONS, type Limits, type LimitWarningListener } from './limits.js';
import { MOUNTS, type Mount, NODE_MODULES, type NodeModulesMount } from './mounts.js';
import { PERMISSIONS, type PermissionsPolicy } from './permissions.js';
import { RUNTIME_NETWORK, type RuntimeNetworkOptions } from './private-network.js';
import { type Env, PLACE } from './programs.js';
import { hasPackages, PYTHON_OPTIONS, type PythonOptions } from './python.js';
import { CALLBACK, CONTENT, type Fault, GUEST_PATH, mapOf, rule, whole } from './rule.js';
import { SECRETS, type SecretsOptions, sameNames } from './secrets.js';
import { WALLS, type WallMode } from './sidecar.js';
import { SNAPSHOT_REFERENCE, TENANT } from './snapshots.js';
import { known, type OptionTable, objectWith } from './table.js';

/** Options of a new runtime. */
export interface RuntimeOptions<Sidecar, Snapshot> {
  /**
   * Environment of the programs, added to `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TMPDIR` and `USER`
   * of a login. No variable of this process's environment is added. @default {}
   */
  env?: Env | undefined;
  /** Working directory of the programs, an absolute guest path. @default '/workspace' */
  cwd?: string | undefined;
  /**
   * Permissions of the programs, merged over the default: files, processes, environment and
   * bindings are allowed, and the network inside the runtime. Calls of the app itself, such as
   * `runtime.readFile()`, are not checked. See `docs/permissions.md`.
   */
  permissions?: PermissionsPolicy | undefined;
  /**
   * The connections out of the runtime. Without this option no connection leaves the runtime. If
   * `permissions.network` is set, both options must allow a connection. A snapshot contains neither
   * this option nor connections. See `docs/network.md`.
   */
  network?: RuntimeNetworkOptions | undefined;
  /**
   * Secrets by their names. Programs have a placeholder in the environment variable with the name,
   * and requests to the hosts of the secret carry the value. The values are never in the memory of
   * programs and of the sidecar, and never in a snapshot. See `docs/secrets.md`.
   */
  secrets?: SecretsOptions | undefined;
  /**
   * The sidecar of the runtime. Without this option the runtime uses the sidecar of the `Snapshot`
   * (see `snapshot`) or of the first network of `network.join`. Otherwise the runtime spawns its
   * own sidecar, and ends that sidecar in `dispose()`.
   */
  sidecar?: Sidecar | undefined;
  /**
   * Whether the operating system restricts the process of the runtime's own sidecar, as in
   * `Sidecar.spawn()`. Not beside `sidecar`.
   * @default 'auto'
   */
  walls?: WallMode | undefined;
  /**
   * Functions of this process that programs can call: `callBinding(name, input)`, or a command of
   * that name.
   * @default {}
   */
  bindings?: Bindings | undefined;
  /**
   * Initial files by their absolute guest paths. Missing parent directories are made. The files are
   * stored in memory and belong to the guest.
   */
  files?: Readonly<Record<string, string | Uint8Array>> | undefined;
  /**
   * Folders of the host machine and app file systems in the guest's tree. No file of a folder is
   * read before a program uses the file.
   */
  mounts?: readonly (Mount | FileSystemMount)[] | undefined;
  /**
   * A `node_modules` folder of the host machine, mounted read-only at `guestPath`. Programs below
   * the parent of `guestPath` can import the packages of the folder. A package whose link leaves
   * the folder, as in a workspace of pnpm, is found if a folder in `roots` contains the link's
   * target. The folders in `roots` are mounted read-only too, where the links lead in the guest. A
   * link to a target outside of these folders fails with `EACCES`, and the message names the
   * target.
   * @default guestPath: `node_modules` in `cwd`
   */
  nodeModules?: string | NodeModulesMount | undefined;
  /**
   * Packages for programs in Python: `{ packages: ['requests', './wheels/x.whl'] }`. They are
   * installed once for each list, in a sandbox. Not beside `snapshot`. See `docs/api/python.md`.
   */
  python?: PythonOptions | undefined;
  /** Limits of the programs: a profile, and single limits that replace the profile's limits. */
  limits?: Limits | undefined;
  /**
   * The runtime's share of processor time relative to the other runtimes of its sidecar, from 1 to
   * 10,000. Beside a busy runtime of weight 100, a busy runtime of weight 200 gets two thirds. The
   * weight also counts for computations of `node:crypto`, and for the time of this process's event
   * loop that host calls use. Clones have the weight of their source. A snapshot contains no
   * weight.
   * @default 100
   */
  weight?: number | undefined;
  /**
   * A snapshot to restore: a `Snapshot`, or an id, digest or name, which selects the newest such
   * snapshot of the tenant. Files, processes and resident runners are restored from the snapshot. A
   * snapshot contains no bindings, no mounted folders and no app file systems, so `bindings` and
   * `mounts` must be passed again. `env`, `cwd`, `limits` and `permissions` replace the snapshot's
   * values if they are set. Without `sidecar`, the runtime uses the sidecar of the `Snapshot` while
   * that sidecar lives.
   */
  snapshot?: Snapshot | string | undefined;
  /**
   * The owner of the runtime, 1 to 200 characters. A tenant sees no snapshot of another tenant.
   * @default the tenant of the `Snapshot`, else 'default'
   */
  tenant?: string | undefined;
  /**
   * The policy that pauses or disposes the unused runtime. @default none: the runtime stays running
   */
  idle?: IdleOptions | undefined;
  /**
   * Called when the use of a limit reaches 80 %. Called again for a limit only after the use of
   * that limit was below 60 %, and at most once a second.
   */
  onLimitWarning?: LimitWarningListener | undefined;
  /**
   * Called with the duration of each step: at creation, and after each program and evaluation.
   * Programs of `spawn()`, `spawnCommand()` and `execCommand()` report no steps.
   */
  onBootTiming?: BootTimingListener | undefined;
}

const FILES_EXPECTED = 'a map of absolute guest paths to text or Uint8Arrays';
/** The largest weight, as in the control groups of Linux (`cpu.weight`). */
const MAX_WEIGHT = 10_000;
const MOUNTS_NOTE = ', a list of `{ guestPath, hostPath, readOnly?, overlay? }`';

const RUNTIME: OptionTable<RuntimeOptions<unknown, unknown>> = {
  ...PLACE,
  limits: known(LIMIT_OPTIONS, ['resourceLimits', 'limit']),
  weight: known(whole(1, MAX_WEIGHT), ['cpuWeight', 'cpuShares', 'priority'], ', from 1 to 10,000'),
  onLimitWarning: CALLBACK,
  files: known(mapOf(GUEST_PATH, CONTENT, FILES_EXPECTED), ['fs', 'filesystem'], ', a map of guest paths to contents'),
  mounts: known(MOUNTS, ['volumes', 'mount'], MOUNTS_NOTE),
  nodeModules: known(NODE_MODULES, ['node_modules', 'modules']),
  python: known(PYTHON_OPTIONS, ['pythonPackages', 'pip'], ', an object with `packages`'),
  bindings: known(BINDINGS, ['tools', 'toolKits'], ', a map of names to `{ description, inputSchema, handler }`'),
  permissions: known(PERMISSIONS, ['permission', 'policy']),
  network: known(RUNTIME_NETWORK, ['egress', 'networkPolicy', 'net']),
  secrets: known(SECRETS, ['credentials']),
  idle: IDLE_POLICY,
  snapshot: SNAPSHOT_REFERENCE,
  tenant: TENANT,
  onBootTiming: CALLBACK,
  walls: WALLS,
  sidecar: rule(isSidecar, 'a Sidecar made by Sidecar.spawn() or Sidecar.embedded() of this copy of coldframe'),
};

function oneOrigin(options: Readonly<Record<string, unknown>>): Fault | undefined {
  const { snapshot, files, sidecar, walls, env, secrets } = options;
  const same = sameNames(env, secrets);
  if (same !== undefined) return same;
  if (sidecar !== undefined && walls !== undefined)
    return { path: ['walls'], expected: 'none beside `sidecar`, which has walls of its own', received: walls };
  if (snapshot !== undefined && hasPackages(options))
    return { path: ['python'], expected: 'none beside `snapshot`, which has packages of its own', received: options['python'] };
  if (snapshot === undefined || files === undefined) return undefined;
  return { path: ['files'], expected: 'none beside `snapshot`, which has files of its own', received: files };
}

/** Accepts the options of a new runtime. */
export const RUNTIME_OPTIONS = objectWith(RUNTIME, undefined, oneOrigin);
