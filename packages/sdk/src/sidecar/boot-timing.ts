// Calls `onBootTiming` with the times that the sidecar and the transports have measured.

import type { Opened } from '../channel/sidecar-connection.js';
import type { BootPhase, BootTimingListener } from '../options/boot-timing.js';
import type { RuntimeCreated, Timings } from '../protocol/generated/messages.js';

/** Reports the opening of a sidecar, without the loading of its module. */
export function reportOpening(listener: BootTimingListener, { spawnMs, sessionMs }: Opened): void {
  if (spawnMs !== undefined) report(listener, 'sidecar_spawn', spawnMs);
  report(listener, 'session_open', sessionMs);
}

const reported = new WeakSet<Opened>();

/** Reports the loading of a sidecar's module, once for each sidecar. */
export function reportModuleLoad(listener: BootTimingListener, opened: Opened): void {
  if (reported.has(opened)) return;
  reported.add(opened);
  report(listener, 'module_load', opened.moduleLoadMs);
}

/**
 * Reports the creation of a runtime. `opened`: the opening of the runtime's sidecar, if known.
 * `isOwn`: whether the sidecar was opened for the runtime.
 */
export function reportCreation(
  listener: BootTimingListener,
  { configureNs }: RuntimeCreated,
  opened: Opened | undefined,
  isOwn: boolean,
  totalMs: number,
): void {
  if (opened !== undefined) {
    if (isOwn) reportOpening(listener, opened);
    reportModuleLoad(listener, opened);
  }
  const openMs = isOwn && opened !== undefined ? (opened.spawnMs ?? 0) + opened.sessionMs : 0;
  // The request is sent while the sidecar is being opened, and the reply may arrive with the hello.
  // The subtraction keeps the time of the opening out of the other steps.
  const restMs = Math.max(0, totalMs - openMs);
  const configureMs = Math.min(configureNs / 1e6, restMs);
  report(listener, 'vm_create', restMs - configureMs);
  report(listener, 'vm_configure', configureMs);
  report(listener, 'runtime_create_total', totalMs);
}

/** Reports the start of a guest process. */
export function reportGuestStart(listener: BootTimingListener, timings: Timings): void {
  report(listener, 'memory_map', timings.memoryMapNs / 1e6);
  report(listener, 'instantiate', timings.instantiateNs / 1e6);
  report(listener, 'guest_start', timings.guestStartNs / 1e6);
}

/** Reports the run of a program or a snippet. */
export function reportGuestRun(listener: BootTimingListener, timings: Timings): void {
  report(listener, 'guest_run', timings.guestRunNs / 1e6);
}

function report(listener: BootTimingListener, phase: BootPhase, durationMs: number): void {
  listener({ phase, durationMs });
}
