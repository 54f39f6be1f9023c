// Where the messages of this side's errors are written, each once. What comes over the wire brings its own sentence.

import type { ErrorCode, ErrorFacts } from './codes.js';
import { ColdframeError, type ColdframeErrorOf } from './error.js';

function make<C extends ErrorCode>(code: C, message: string, facts: ErrorFacts[C], cause?: unknown): ColdframeErrorOf<C> {
  const options = cause === undefined ? undefined : { cause };
  return new ColdframeError(code, message, facts as Record<string, unknown>, options) as ColdframeErrorOf<C>;
}

/** An option or argument is wrong. `hint` is a further sentence: the right name, usually. */
export function invalidOption(where: string, facts: ErrorFacts['ERR_INVALID_OPTION'], hint?: string) {
  const what = `Invalid \`${facts.option}\` in ${where}: expected ${facts.expected}, received ${facts.received}.`;
  return make('ERR_INVALID_OPTION', hint === undefined ? what : `${what} ${hint}`, facts);
}

/** The sidecar could not be started. */
export function sidecarSpawn(path: string, reason: string, cause?: unknown) {
  return make('ERR_SIDECAR_SPAWN', `The sidecar could not be started from ${path}: ${reason}`, { path, reason }, cause);
}

/** The sidecar's process is gone. */
export function sidecarExited(facts: ErrorFacts['ERR_SIDECAR_EXITED']) {
  const how = facts.signal === null ? `with exit code ${facts.exitCode ?? 'unknown'}` : `by signal ${facts.signal}`;
  const last = facts.stderr === '' ? '' : `. Its last words:\n${facts.stderr}`;
  return make('ERR_SIDECAR_EXITED', `The sidecar (process ${facts.pid}) ended ${how}${last}`, facts);
}

/** The caller has disposed the sidecar. */
export function sidecarDisposed() {
  return make('ERR_SIDECAR_DISPOSED', 'The sidecar has been disposed', {});
}

/** The caller has disposed the runtime. */
export function runtimeDisposed(runtime: number) {
  return make('ERR_RUNTIME_DISPOSED', 'The runtime has been disposed', { runtime });
}

/** The caller has put the runtime to sleep. */
export function runtimePaused(runtime: number) {
  return make('ERR_RUNTIME_PAUSED', 'The runtime is paused: call resume() first', { runtime });
}

/** The caller has had the runtime go back to a snapshot. */
export function rolledBack() {
  return make('ERR_ROLLED_BACK', 'The runtime was rolled back to a snapshot', {});
}

/** A snapshot is not there any more, now that the sidecar is gone that it was taken in: its memory, or its folder, which another sidecar need not have. */
export function snapshotGone(snapshot: string, tenant: string, stored: 'memory' | 'disk' | 'both', cause: unknown) {
  const where =
    stored === 'memory'
      ? "lay in the memory of a sidecar that is gone, and not on disk: persist() it before, or take it with { store: 'disk' }"
      : 'was written to the folder of a sidecar that is gone, and is not in this one: it has been deleted, or the folder is another (snapshots.directory)';
  const message = `The snapshot ${snapshot} ${where}`;
  return make('ERR_SNAPSHOT_NOT_FOUND', message, { snapshot, tenant }, cause);
}

/** The caller has disposed the runner. */
export function runnerDisposed(runner: number) {
  return make('ERR_RUNNER_DISPOSED', 'The resident runner has been disposed', { runner });
}

/** Nobody listens yet, and the wait is over. */
export function listenerTimeout(facts: ErrorFacts['ERR_LISTENER_TIMEOUT']) {
  const where = facts.path ?? `${facts.host ?? 'localhost'}:${facts.port}`;
  return make('ERR_LISTENER_TIMEOUT', `Nobody listened at ${where} within ${facts.timeoutMs} ms`, facts);
}

/** The guest's server takes too long. */
export function fetchTimeout(port: number, timeoutMs: number) {
  return make('ERR_FETCH_TIMEOUT', `The answer from port ${port} took longer than ${timeoutMs} ms`, { timeoutMs, port });
}

/** The guest's server answers with too much. */
export function responseTooLarge(port: number, maxResponseBytes: number) {
  const message = `The answer from port ${port} has more than ${maxResponseBytes} bytes (maxResponseBytes, or limits.fetchResponseBytes)`;
  return make('ERR_RESPONSE_TOO_LARGE', message, { maxResponseBytes, port });
}

/** The guest's server does not speak HTTP. */
export function responseInvalid(port: number, reason: string, cause: unknown) {
  const message = `What port ${port} answered is not a response: ${reason}`;
  return make('ERR_RESPONSE_INVALID', message, { reason, port }, cause);
}

/** The program has ended: nobody reads what is written to it. */
export function noReader(pid: number) {
  return make('EPIPE', `EPIPE: broken pipe, write '${pid}'`, { syscall: 'write', path: String(pid) });
}

/** The process that an entry of a list spoke of is gone. */
export function noProcess(pid: number) {
  return make('ESRCH', `ESRCH: no such process, attach '${pid}'`, { syscall: 'attach', path: String(pid) });
}

/** The guest's server closed the connection in the middle of its answer. */
export function connectionLost(port: number, cause: unknown) {
  const message = `ECONNRESET: connection closed before the answer was complete, read 'localhost:${port}'`;
  return make('ECONNRESET', message, { syscall: 'read', path: `localhost:${port}` }, cause);
}

/** The pool's queue is full. */
export function poolExhausted(facts: ErrorFacts['ERR_POOL_EXHAUSTED']) {
  const message = `The pool has ${facts.busy} of ${facts.size} slots in use and ${facts.waiting} calls waiting (maxWaiting: ${facts.maxWaiting})`;
  return make('ERR_POOL_EXHAUSTED', message, facts);
}

/** The pool had no slot in time; or, without a tenant, something that has to be done with a slot took too long. */
export function poolTimeout(facts: ErrorFacts['ERR_POOL_TIMEOUT'], cause?: unknown) {
  const { timeoutMs, tenant, size, busy, waiting } = facts;
  const call = `No slot of the pool became free within ${timeoutMs} ms: ${busy} of ${size} are in use, ${waiting} calls wait`;
  const message = tenant === undefined ? `A slot of the pool was not ready within ${timeoutMs} ms` : call;
  return make('ERR_POOL_TIMEOUT', message, facts, cause);
}

/** The pool is no more. */
export function poolDisposed(draining: boolean) {
  return make('ERR_POOL_DISPOSED', draining ? 'The pool is being drained' : 'The pool has been disposed', { draining });
}

/** The caller has given the runtime back. */
export function poolReleased() {
  return make('ERR_POOL_RELEASED', 'The runtime has been given back to its pool', {});
}

/** The halves are of different releases. */
export function versionMismatch(sdk: string, sidecar: string) {
  const message = `The SDK has version ${sdk}, the sidecar ${sidecar}: install one release of both`;
  return make('ERR_VERSION_MISMATCH', message, { sdk, sidecar });
}

/** A frame would be, or says that it is, larger than `maxBytes`. */
export function frameTooLarge(bytes: number, maxBytes: number) {
  const message = `A message of ${bytes} bytes does not fit into a frame of at most ${maxBytes} bytes`;
  return make('ERR_FRAME_TOO_LARGE', message, { bytes, maxBytes });
}

/** The other side does not speak the protocol. */
export function protocolError(reason: string) {
  return make('ERR_PROTOCOL', `The sidecar does not speak this protocol: ${reason}`, { reason });
}

/** An error as it came from the sidecar. Codes are the same on both sides because versions are. */
export function fromWire(code: string, message: string, details: Readonly<Record<string, unknown>>): ColdframeError {
  return new ColdframeError(code as ErrorCode, message, details);
}
