// How a runtime comes to be: in the caller's sidecar, or in one of its own.
//
// In the second case the request is on its way before the sidecar has even said hello: one round trip less. Whatever fails after the
// sidecar was started ends it again.

import type { RuntimeCreated } from '../channel/messages.js';
import type { BootTimingListener, NodeRuntimeOptions } from '../options/types.js';
import type { Opened, Opening, ProcessConnection, SidecarConnection } from '../sidecar/connection.js';
import { openingOf } from '../sidecar/connections.js';
import { openProcess } from '../sidecar/open.js';
import { reportModuleLoad, reportOpening } from './boot-timing.js';

/** A runtime in a sidecar. */
export interface Provisioned {
  connection: SidecarConnection;
  /** The same connection, when the sidecar is the runtime's own. */
  owned: ProcessConnection | undefined;
  runtime: number;
}

/** Makes a runtime with checked options. */
export async function provision(options: NodeRuntimeOptions): Promise<Provisioned> {
  const { env, cwd, limits, sidecar, onBootTiming } = options;
  const begin = performance.now();
  const own = sidecar === undefined ? openProcess() : undefined;
  const { connection, opened } = own ?? (openingOf(sidecar) as Opening);
  try {
    const created = await connection.createRuntime({ env, cwd, limits });
    if (onBootTiming !== undefined) {
      const totalMs = performance.now() - begin;
      reportCreation(onBootTiming, created, await opened, totalMs, own !== undefined);
    }
    return { connection, owned: own?.connection, runtime: created.runtime };
  } catch (error) {
    await own?.connection.dispose();
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
