// Types of `onBootTiming`.

/** One measured step. */
export interface BootTiming {
  /** The measured step. */
  phase: BootPhase;
  /** The duration in milliseconds, with the resolution of the monotonic clock. */
  durationMs: number;
}

/**
 * The steps that `onBootTiming` reports.
 *
 * - `sidecar_spawn`: from the call until the operating system has started the sidecar's process.
 * - `session_open`: from the end of `sidecar_spawn` until the sidecar has sent its hello.
 * - `module_load`: inside these two steps, the sidecar loads the precompiled engine. Each sidecar
 *   reports this step once, to the first call with `onBootTiming`.
 * - `vm_create`: from the end of `session_open`, or from the call if the sidecar ran already, until
 *   the runtime exists. Does not include `vm_configure`.
 * - `vm_configure`: inside the sidecar, checks and stores the runtime's options.
 * - `runtime_create_total`: all of `NodeRuntime.create()`.
 * - `memory_map`, `instantiate`, `guest_start`, `guest_run`: the steps of each program in the
 *   sidecar. The steps map the guest's memory, make the instance, reach the program's first
 *   instruction, and run the program to its end.
 */
export type BootPhase =
  | 'sidecar_spawn'
  | 'session_open'
  | 'module_load'
  | 'vm_create'
  | 'vm_configure'
  | 'runtime_create_total'
  | 'memory_map'
  | 'instantiate'
  | 'guest_start'
  | 'guest_run';

/** Receives the timings. An error that the function throws rejects the measured call. */
export type BootTimingListener = (timing: BootTiming) => void;
