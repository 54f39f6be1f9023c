// How a runtime comes to be: in the caller's sidecar, or in one of its own.
//
// In the second case the request is on its way before the sidecar has even said hello: one round trip less. Whatever fails after the
// sidecar was started ends it again.

import { bindingsOf } from '../bindings/binding.js';
import { BindingRegistry } from '../bindings/registry.js';
import type { RuntimeCreate, RuntimeCreated } from '../channel/messages.js';
import { fileSystemService } from '../file-systems/service.js';
import type { Limits } from '../options/limits.js';
import { wirePolicy } from '../options/permissions.js';
import type { BootTimingListener, NodeRuntimeOptions } from '../options/types.js';
import type { Opened, Opening, ProcessConnection, SidecarConnection } from '../sidecar/connection.js';
import { openingOf } from '../sidecar/connections.js';
import { openProcess } from '../sidecar/open.js';
import { reportModuleLoad, reportOpening } from './boot-timing.js';
import { writeFile } from './files.js';
import { fileSystemsOf, mountsOf, seedOf } from './seed.js';

/** A runtime in a sidecar. */
export interface Provisioned {
  connection: SidecarConnection;
  /** The same connection, when the sidecar is the runtime's own. */
  owned: ProcessConnection | undefined;
  runtime: number;
  /** Its bindings, when it was made with some. */
  bindings: BindingRegistry | undefined;
}

/** Makes a runtime with checked options. */
export async function provision(options: NodeRuntimeOptions): Promise<Provisioned> {
  const { env, cwd, sidecar, onBootTiming, onLimitWarning } = options;
  const { profile, limits } = limitsOf(options.limits);
  const warn = onLimitWarning === undefined ? undefined : true;
  const { files, later } = seedOf(options.files);
  const mounts = mountsOf(options);
  const bindings = options.bindings && (await bindingsOf('NodeRuntime.create()', options.bindings));
  const permissions = options.permissions === undefined ? undefined : wirePolicy(options.permissions);
  const begin = performance.now();
  const own = sidecar === undefined ? openProcess() : undefined;
  const { connection, opened } = own ?? (openingOf(sidecar) as Opening);
  try {
    const created = await connection.createRuntime(
      { env, cwd, limits, profile, warn, files, mounts, permissions },
      onLimitWarning,
    );
    const systems = fileSystemsOf(options);
    if (systems.length > 0) connection.serve(created.runtime, 'filesystem', fileSystemService(systems));
    if (later.length > 0) await orDispose(connection, created.runtime, writeAll(connection, created.runtime, later));
    const registry = bindings && new BindingRegistry(connection, created.runtime);
    if (registry) await orDispose(connection, created.runtime, registry.add(bindings));
    if (onBootTiming !== undefined) {
      const totalMs = performance.now() - begin;
      reportCreation(onBootTiming, created, await opened, totalMs, own !== undefined);
    }
    return { connection, owned: own?.connection, runtime: created.runtime, bindings: registry };
  } catch (error) {
    await own?.connection.dispose();
    throw error;
  }
}

// The sidecar takes the profile apart from the numbers.
function limitsOf(options: Limits | undefined): Pick<RuntimeCreate, 'profile' | 'limits'> {
  if (options === undefined) return {};
  // That of answers is not the sidecar's (`network/runtime-network.ts`).
  const { profile, fetchResponseBytes: _own, ...limits } = options;
  return { profile, limits };
}

async function writeAll(connection: SidecarConnection, runtime: number, files: [string, Uint8Array][]): Promise<void> {
  for (const [path, data] of files) await writeFile(connection, runtime, path, data);
}

async function orDispose(connection: SidecarConnection, runtime: number, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    await connection.disposeRuntime(runtime);
    throw error;
  }
}

function reportCreation(
  listener: BootTimingListener,
  { configureNs }: RuntimeCreated,
  opened: Opened,
  totalMs: number,
  owned: boolean,
): void {
  if (owned) reportOpening(listener, opened);
  reportModuleLoad(listener, opened);
  const openMs = owned ? (opened.spawnMs ?? 0) + opened.sessionMs : 0;
  const configureMs = configureNs / 1e6;
  listener({ phase: 'vm_create', durationMs: Math.max(0, totalMs - openMs - configureMs) });
  listener({ phase: 'vm_configure', durationMs: configureMs });
  listener({ phase: 'runtime_create_total', durationMs: totalMs });
}
