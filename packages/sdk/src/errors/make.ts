// Makes the errors of this package. Every message text is in this module, except the messages of
// errors that the sidecar sends.

import type { ErrorCode, ErrorFacts } from './codes.js';
import { ColdframeError, type ColdframeErrorOf } from './error.js';

function make<C extends ErrorCode>(code: C, message: string, facts: ErrorFacts[C], cause?: unknown): ColdframeErrorOf<C> {
  const options = cause === undefined ? undefined : { cause };
  return new ColdframeError(code, message, facts as Record<string, unknown>, options) as ColdframeErrorOf<C>;
}

/** An option or argument is wrong. `hint` is a further sentence, usually with the right name. */
export function invalidOption(where: string, facts: ErrorFacts['ERR_INVALID_OPTION'], hint?: string) {
  const message = `Invalid \`${facts.option}\` in ${where}: expected ${facts.expected}, received ${facts.received}.`;
  return make('ERR_INVALID_OPTION', hint === undefined ? message : `${message} ${hint}`, facts);
}

/** The sidecar could not be started. */
export function sidecarSpawn(path: string, reason: string, cause?: unknown) {
  return make('ERR_SIDECAR_SPAWN', `The sidecar could not be started from ${path}: ${reason}`, { path, reason }, cause);
}

/** The sidecar's process has ended. */
export function sidecarExited(facts: ErrorFacts['ERR_SIDECAR_EXITED']) {
  const how = facts.signal === null ? `with exit code ${facts.exitCode ?? 'unknown'}` : `by signal ${facts.signal}`;
  const last = facts.stderr === '' ? '' : `. Its last output:\n${facts.stderr}`;
  return make('ERR_SIDECAR_EXITED', `The sidecar (process ${facts.pid}) ended ${how}${last}`, facts);
}

/** The app has disposed the sidecar. */
export function sidecarDisposed() {
  return make('ERR_SIDECAR_DISPOSED', 'The sidecar has been disposed', {});
}

/** The app has disposed the runtime. */
export function runtimeDisposed(runtime: number) {
  return make('ERR_RUNTIME_DISPOSED', 'The runtime has been disposed', { runtime });
}

/** The app has paused the runtime. */
export function runtimePaused(runtime: number) {
  return make('ERR_RUNTIME_PAUSED', 'The runtime is paused: call resume() first', { runtime });
}

/** The app has rolled the runtime back. */
export function rolledBack() {
  return make('ERR_ROLLED_BACK', 'The runtime was rolled back to a snapshot', {});
}

/**
 * A snapshot is missing because the sidecar that stored the snapshot has ended. The memory of that
 * sidecar is lost, and another sidecar may have another folder.
 */
export function snapshotLost(snapshot: string, tenant: string, stored: 'memory' | 'disk' | 'both', cause: unknown) {
  const where =
    stored === 'memory'
      ? "was in the memory of a sidecar that has ended, and not on disk: call persist() before, or take it with { store: 'disk' }"
      : 'was in the folder of a sidecar that has ended, and is not in this one: ' +
        'it was deleted, or this folder is another (snapshots.directory)';
  const message = `The snapshot ${snapshot} ${where}`;
  return make('ERR_SNAPSHOT_NOT_FOUND', message, { snapshot, tenant }, cause);
}

/** The app has disposed the runner. */
export function runnerDisposed(runner: number) {
  return make('ERR_RUNNER_DISPOSED', 'The resident runner has been disposed', { runner });
}

/** No process listened within the time of the wait. */
export function listenerTimeout(facts: ErrorFacts['ERR_LISTENER_TIMEOUT']) {
  const where = facts.path ?? `${facts.host ?? 'localhost'}:${facts.port}`;
  return make('ERR_LISTENER_TIMEOUT', `No process listened at ${where} within ${facts.timeoutMs} ms`, facts);
}

/** The guest's response was not complete within `timeoutMs`. */
export function fetchTimeout(port: number, timeoutMs: number) {
  return make('ERR_FETCH_TIMEOUT', `The response of port ${port} took longer than ${timeoutMs} ms`, { timeoutMs, port });
}

/** The guest's response has more than `maxResponseBytes` bytes. */
export function responseTooLarge(port: number, maxResponseBytes: number) {
  const bound = `${maxResponseBytes} bytes (maxResponseBytes, or limits.fetchResponseBytes)`;
  const message = `The response of port ${port} has more than ${bound}`;
  return make('ERR_RESPONSE_TOO_LARGE', message, { maxResponseBytes, port });
}

/** The guest's response is not HTTP. */
export function responseInvalid(port: number, reason: string, cause: unknown) {
  const message = `The response of port ${port} is not HTTP: ${reason}`;
  return make('ERR_RESPONSE_INVALID', message, { reason, port }, cause);
}

/** The program has ended and reads no stdin. */
export function noReader(pid: number) {
  return make('EPIPE', `EPIPE: broken pipe, write '${pid}'`, { syscall: 'write', path: String(pid) });
}

/** The process of a `ProcessEntry` has ended. */
export function noProcess(pid: number) {
  return make('ESRCH', `ESRCH: no such process, attach '${pid}'`, { syscall: 'attach', path: String(pid) });
}

/** The guest's server closed the connection before the response was complete. */
export function connectionLost(port: number, cause: unknown) {
  const message = `ECONNRESET: connection closed before the response was complete, read 'localhost:${port}'`;
  return make('ECONNRESET', message, { syscall: 'read', path: `localhost:${port}` }, cause);
}

/** The pool's queue is full. */
export function poolExhausted(facts: ErrorFacts['ERR_POOL_EXHAUSTED']) {
  const { busy, size, waiting, maxWaiting } = facts;
  const message = `The pool has ${busy} of ${size} slots in use and ${waiting} calls waiting (maxWaiting: ${maxWaiting})`;
  return make('ERR_POOL_EXHAUSTED', message, facts);
}

/** No slot was free in time. Without `tenant`: a step of a slot exceeded its deadline. */
export function poolTimeout(facts: ErrorFacts['ERR_POOL_TIMEOUT'], cause?: unknown) {
  const { timeoutMs, tenant, size, busy, waiting } = facts;
  const call = `No slot of the pool became free within ${timeoutMs} ms: ${busy} of ${size} are in use, ${waiting} calls wait`;
  const message = tenant === undefined ? `A slot of the pool was not ready within ${timeoutMs} ms` : call;
  return make('ERR_POOL_TIMEOUT', message, facts, cause);
}

/** The pool is drained or disposed. */
export function poolDisposed(draining: boolean) {
  return make('ERR_POOL_DISPOSED', draining ? 'The pool is being drained' : 'The pool has been disposed', { draining });
}

/** The caller has released the runtime to its pool. */
export function poolReleased() {
  return make('ERR_POOL_RELEASED', 'The runtime has been released to its pool', {});
}

/** SDK and sidecar have different releases. */
export function versionMismatch(sdk: string, sidecar: string) {
  const message = `The SDK has version ${sdk}, the sidecar ${sidecar}: install one release of both`;
  return make('ERR_VERSION_MISMATCH', message, { sdk, sidecar });
}

/** A frame is, or claims to be, larger than `maxBytes`. */
export function frameTooLarge(bytes: number, maxBytes: number) {
  const message = `A message of ${bytes} bytes does not fit into a frame of at most ${maxBytes} bytes`;
  return make('ERR_FRAME_TOO_LARGE', message, { bytes, maxBytes });
}

/** The sidecar sent a message that the protocol does not allow. */
export function protocolError(reason: string) {
  return make('ERR_PROTOCOL', `The sidecar broke the protocol: ${reason}`, { reason });
}

/**
 * Converts an error of the sidecar. The SDK and the sidecar have equal versions, so every code is
 * known.
 */
export function fromWire(code: string, message: string, details: Readonly<Record<string, unknown>>): ColdframeError {
  return new ColdframeError(code as ErrorCode, message, details);
}
