// From what the sidecar and the transports measured to the caller's `onBootTiming`.

import type { Timings } from '../channel/messages.js';
import type { Opened } from '../channel/sidecar-connection.js';
import type { BootPhase, BootTimingListener } from '../options/types.js';

/** Reports how a sidecar was opened, without the loading of its module. */
export function reportOpening(listener: BootTimingListener, { spawnMs, sessionMs }: Opened): void {
  if (spawnMs !== undefined) report(listener, 'sidecar_spawn', spawnMs);
  report(listener, 'session_open', sessionMs);
}

const reported = new WeakSet<Opened>();

/** Reports the loading of a sidecar's module, to the first who asks. */
export function reportModuleLoad(listener: BootTimingListener, opened: Opened): void {
  if (reported.has(opened)) return;
  reported.add(opened);
  report(listener, 'module_load', opened.moduleLoadMs);
}

/** Reports how a guest process reached its program. */
export function reportGuestStart(listener: BootTimingListener, timings: Timings): void {
  report(listener, 'memory_map', timings.memoryMapNs / 1e6);
  report(listener, 'instantiate', timings.instantiateNs / 1e6);
  report(listener, 'guest_start', timings.guestStartNs / 1e6);
}

/** Reports how long a program or a snippet ran. */
export function reportGuestRun(listener: BootTimingListener, timings: Timings): void {
  report(listener, 'guest_run', timings.guestRunNs / 1e6);
}

function report(listener: BootTimingListener, phase: BootPhase, durationMs: number): void {
  listener({ phase, durationMs });
}
