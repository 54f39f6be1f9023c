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
 * - `session_open`: from the end of `sidecar_spawn`, or from the call in embedded mode, until the
 *   sidecar's hello has arrived.
 * - `module_load`: inside these two steps, the sidecar loads the precompiled engine. Each sidecar
 *   reports this step once, to the first call with `onBootTiming`.
 * - `vm_create`: from the end of `session_open`, or from the request if the sidecar ran already,
 *   until the runtime exists with its files and bindings. Does not include `vm_configure`.
 * - `vm_configure`: inside `NodeRuntime.create()`, the sidecar checks and stores the runtime's
 *   options.
 * - `runtime_create_total`: all of `NodeRuntime.create()` after its options were checked and
 *   prepared.
 * - `memory_map`, `instantiate`, `guest_start`, `guest_run`: the sidecar's steps for each program
 *   of `exec()`, `run()` and `execFile()`. The steps map the guest's memory, make the VM, reach the
 *   program's first instruction, and run the program to its end. A new resident runner reports the
 *   first three steps, and each snippet reports `guest_run`.
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
