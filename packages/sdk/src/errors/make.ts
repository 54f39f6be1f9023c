// Makes the errors of this package, with one function for each error, so that the texts of the
// messages are in one place. An error of the sidecar arrives with its message, and `fromWire`
// converts the error.

import type { ErrorCode, ErrorFacts, GatewayReason } from './codes.js';
import { ColdframeError, type ColdframeErrorOf } from './error.js';

/** The largest number of characters of a program's output in a message. */
const MAX_TAIL = 4_096;

function make<C extends ErrorCode>(code: C, message: string, facts: ErrorFacts[C], cause?: unknown): ColdframeErrorOf<C> {
  const options = cause === undefined ? undefined : { cause };
  return new ColdframeError(code, message, facts as Record<string, unknown>, options) as ColdframeErrorOf<C>;
}

/**
 * Makes the error for a wrong option or argument. `hint` is a further sentence, usually with the
 * right name.
 */
export function invalidOption(where: string, facts: ErrorFacts['ERR_INVALID_OPTION'], hint?: string) {
  const message = `Invalid \`${facts.option}\` in ${where}: expected ${facts.expected}, received ${facts.received}.`;
  return make('ERR_INVALID_OPTION', hint === undefined ? message : `${message} ${hint}`, facts);
}

/** Makes the error for a part of secure-exec that has no equivalent. */
export function notSupported(what: string, instead: string) {
  return make('ERR_NOT_SUPPORTED', `Coldframe does not support ${what}: ${instead}`, { what, instead });
}

/** Makes the error for a check of code that has no result. */
export function checkFailed(reason: string, cause?: unknown) {
  return make('ERR_CHECK_FAILED', `The code could not be checked: ${reason}`, { reason }, cause);
}

/** Makes the error for packages of Python that could not be installed. */
export function pythonPackages(facts: ErrorFacts['ERR_PYTHON_PACKAGES']) {
  const { packages, exitCode, output } = facts;
  const pip = exitCode === null ? '' : `pip ended with exit code ${exitCode}. Its last output:\n`;
  const message = `The packages of Python could not be installed: ${packages.join(', ')}. ${pip}${output}`;
  return make('ERR_PYTHON_PACKAGES', message, facts);
}

/** The line of each bundler's configuration that keeps `coldframe` out of a bundle. */
const EXTERNAL_LINES: readonly (readonly [bundler: string, line: string])[] = [
  ['esbuild', "external: ['coldframe']"],
  ['Rollup', "external: ['coldframe']"],
  ['Vite', "ssr: { external: ['coldframe'] }"],
  ['webpack', "externals: { coldframe: 'module coldframe' }"],
  ['Next.js', "serverExternalPackages: ['coldframe']"],
];

/** Makes the error for a package of Coldframe that is in none of the folders `searched`. */
export function packageNotFound(name: string, searched: readonly string[]) {
  const lines = EXTERNAL_LINES.map(([bundler, line]) => `${bundler}: ${line}`).join('; ');
  const bundle = `A bundle cannot contain the native files of coldframe: keep the package out of the bundle (${lines}).`;
  return notInstalled(name, searched, `Run \`npm install coldframe\` in a folder that contains the app. ${bundle}`);
}

/** Makes the error for the package of servers, which the command needs. */
export function serverPackageNotFound(searched: readonly string[], version: string) {
  const line = `npm install @coldframe/server@${version}`;
  return notInstalled('@coldframe/server', searched, `Run \`${line}\` in the folder of the command.`);
}

/**
 * Makes the error for a package that only the app can install, and that is in none of the folders
 * `searched`. `wanted` is the package for `npm install`, with a release if the newest does not fit.
 */
export function appPackageNotFound(name: string, searched: readonly string[], wanted = name) {
  return notInstalled(name, searched, `Run \`npm install --save-dev ${wanted}\` in a folder that contains the app.`);
}

function notInstalled(name: string, searched: readonly string[], remedy: string) {
  const message = `The package ${name} is not installed where the app runs. Searched: ${searched.join(', ')}. ${remedy}`;
  return make('ERR_PACKAGE_NOT_FOUND', message, { package: name, searched: [...searched] });
}

/** Makes the error for a sidecar that could not be started from `path`. */
export function sidecarSpawn(path: string, reason: string, cause?: unknown) {
  return make('ERR_SIDECAR_SPAWN', `The sidecar could not be started from ${path}: ${reason}`, { path, reason }, cause);
}

/**
 * Makes the error for a machine without its platform package. `platforms` lists the platforms that
 * have packages.
 */
export function platformPackage(facts: ErrorFacts['ERR_PLATFORM_PACKAGE'], platforms: readonly string[], cause: unknown) {
  const { package: name, os, cpu, libc, installed } = facts;
  const machine = `os ${os}, cpu ${cpu}, libc ${libc}`;
  return make('ERR_PLATFORM_PACKAGE', name === '' ? unsupported() : missing(), facts, cause);

  function unsupported(): string {
    return `Coldframe has no package for this machine (${machine}). It has packages for ${platforms.join(', ')}.`;
  }

  function missing(): string {
    const what = `The package ${name} is not installed. It has Coldframe's native files for this machine (${machine}).`;
    const reason =
      installed.length > 0
        ? `For another machine, ${installed.join(' and ')} is installed: node_modules was copied, or installed for that machine.`
        : 'The installation left out this optional dependency: by --omit=optional or --no-optional, or without network.';
    return `${what} ${reason} Run \`npm install --include=optional\` on this machine, or add ${name} to the dependencies.`;
  }
}

/** Makes the error for a call to a sidecar whose process has ended. */
export function sidecarExited(facts: ErrorFacts['ERR_SIDECAR_EXITED']) {
  const how = facts.signal === null ? `with exit code ${facts.exitCode ?? 'unknown'}` : `by signal ${facts.signal}`;
  const last = facts.stderr === '' ? '' : `. Its last output:\n${facts.stderr}`;
  return make('ERR_SIDECAR_EXITED', `The sidecar (process ${facts.pid}) ended ${how}${last}`, facts);
}

/**
 * Makes the error for a sidecar that runs already and lacks parts of the wall. `missing` is empty
 * if the wall is off.
 */
export function wallsMissing(missing: readonly { name: string; reason?: string }[]) {
  const reasons = missing.map(({ name, reason }) => `${name} (${reason})`).join(', ');
  const lacks =
    missing.length === 0 ? 'The sidecar has no wall' : `The system lacks parts of the wall around the sidecar: ${reasons}`;
  return make('ERR_WALLS_MISSING', lacks, { missing: missing.map(({ name }) => name).join(',') });
}

/** Makes the error for a call to a sidecar that the app has disposed. */
export function sidecarDisposed() {
  return make('ERR_SIDECAR_DISPOSED', 'The sidecar has been disposed', {});
}

/** Makes the error for a call to a runtime that the app has disposed. */
export function runtimeDisposed(runtime: number) {
  return make('ERR_RUNTIME_DISPOSED', 'The runtime has been disposed', { runtime });
}

/** Makes the error for a call to a runtime that the app has paused. */
export function runtimePaused(runtime: number) {
  return make('ERR_RUNTIME_PAUSED', 'The runtime is paused: call resume() first', { runtime });
}

/** Makes the error for a pending call that a rollback of the runtime has ended. */
export function rolledBack() {
  return make('ERR_ROLLED_BACK', 'The runtime was rolled back to a snapshot', {});
}

/**
 * Makes the error for a snapshot that is missing because the sidecar that stored the snapshot has
 * ended. The memory of that sidecar is lost, and another sidecar may have another folder.
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

/** Makes the error for a returned value with a key that the SDK refuses. */
export function resultRefused(key: string) {
  return make('ERR_RESULT_REFUSED', `The value that the program returned has the key ${key}, which is refused`, { key });
}

/** Makes the error for a call to a runner that the app has disposed. */
export function runnerDisposed(runner: number) {
  return make('ERR_RUNNER_DISPOSED', 'The resident runner has been disposed', { runner });
}

/** Makes the error for a wait during which no process listened. */
export function listenerTimeout(facts: ErrorFacts['ERR_LISTENER_TIMEOUT']) {
  return make('ERR_LISTENER_TIMEOUT', `No process listened at ${placeOf(facts)} within ${facts.timeoutMs} ms`, facts);
}

const GATEWAY_REFUSALS: Readonly<Record<GatewayReason, readonly [status: number, sentence: string]>> = {
  host: [400, 'The host names no runtime: expected <port>-<id> below the domain of the gateway'],
  target: [400, "The request's target is no path, or the request for an upgrade has a body"],
  token: [403, 'The header coldframe-token is missing or wrong'],
  'not-found': [404, 'There is no runtime with this id'],
  'not-listening': [502, 'No process of the runtime listens at the port'],
  response: [502, "The guest's response is not HTTP, or is not complete"],
  timeout: [504, 'The guest did not respond in time'],
  unavailable: [502, 'The runtime cannot be reached'],
};

/** Makes the error for a request that a gateway does not forward. */
export function gatewayRefused(reason: GatewayReason, { id, port }: { id?: string; port?: number }, cause?: unknown) {
  const [status, sentence] = GATEWAY_REFUSALS[reason];
  const facts = { reason, status, ...(id === undefined ? {} : { sandbox: id }), ...(port === undefined ? {} : { port }) };
  return make('ERR_GATEWAY', sentence, facts, cause);
}

function placeOf({ port, host, path }: { port?: number; host?: string; path?: string }): string {
  return path ?? `${host ?? 'localhost'}:${port}`;
}

/** Makes the error for a guest's response that was not complete within `timeoutMs`. */
export function fetchTimeout(port: number, timeoutMs: number) {
  return make('ERR_FETCH_TIMEOUT', `The response of port ${port} took longer than ${timeoutMs} ms`, { timeoutMs, port });
}

/** Makes the error for a guest's response with more than `maxResponseBytes` bytes. */
export function responseTooLarge(port: number, maxResponseBytes: number) {
  const bound = `${maxResponseBytes} bytes (maxResponseBytes, or limits.fetchResponseBytes)`;
  const message = `The response of port ${port} has more than ${bound}`;
  return make('ERR_RESPONSE_TOO_LARGE', message, { maxResponseBytes, port });
}

/** Makes the error for a guest's response that is not HTTP. */
export function responseInvalid(port: number, reason: string, cause: unknown) {
  const message = `The response of port ${port} is not HTTP: ${reason}`;
  return make('ERR_RESPONSE_INVALID', message, { reason, port }, cause);
}

const NO_DIRECTORY = {
  ENOENT: 'no such directory',
  ENOTDIR: 'not a directory',
  EOPNOTSUPP: 'no program can start below the mount point of an app file system',
} as const;

/** Makes the error for a `cwd`, an option of `call`, that a program cannot start in. */
export function noWorkingDirectory(call: string, code: keyof typeof NO_DIRECTORY, path: string) {
  return make(code, `${code}: ${NO_DIRECTORY[code]}, chdir '${path}' (option \`cwd\` of ${call})`, { syscall: 'chdir', path });
}

/**
 * Makes the error for a wait during which the program ended, or the last program of the runtime.
 */
export function programExited(facts: ErrorFacts['ERR_PROGRAM_EXITED'], cause?: unknown) {
  const { pid, exitCode, stderr } = facts;
  const program = pid === undefined ? 'The program' : `The program (process ${pid})`;
  const last = stderr === '' ? '' : `. Its last output:\n${stderr}`;
  const message = `${program} ended with exit code ${exitCode} before a process listened at ${placeOf(facts)}${last}`;
  return make('ERR_PROGRAM_EXITED', message, facts, cause);
}

/** Makes the error for a program that failed, if the option `throwOnError` is set. */
export function programFailed(facts: ErrorFacts['ERR_PROGRAM_FAILED'], cause?: { message: string }) {
  const { exitCode, stderr } = facts;
  const why = cause === undefined ? '' : `: ${cause.message}`;
  const last = stderr === '' ? '' : `. Its last output:\n${stderr.slice(-MAX_TAIL)}`;
  return make('ERR_PROGRAM_FAILED', `The program failed with exit code ${exitCode}${why}${last}`, facts, cause);
}

/** Makes the error for a write to the stdin of a program that has ended. */
export function noReader(pid: number) {
  return make('EPIPE', `EPIPE: broken pipe, write '${pid}'`, { syscall: 'write', path: String(pid) });
}

/** Makes the error for `attach()` of a `ProcessEntry` that was listed before a rollback. */
export function noProcess(pid: number) {
  return make('ESRCH', `ESRCH: no such process, attach '${pid}'`, { syscall: 'attach', path: String(pid) });
}

/** Makes the error for the result of a handle that was detached from its program. */
export function detached(pid: number) {
  return make('ERR_DETACHED', `the handle was detached from the process ${pid}`, { pid });
}

/** Makes the error for a connection that closed before the guest's response was complete. */
export function connectionLost(port: number, cause: unknown) {
  const message = `ECONNRESET: connection closed before the response was complete, read 'localhost:${port}'`;
  return make('ECONNRESET', message, { syscall: 'read', path: `localhost:${port}` }, cause);
}

/**
 * Makes the error for a call that finds the pool's queue full, or that loses its place in the
 * queue.
 */
export function poolExhausted(facts: ErrorFacts['ERR_POOL_EXHAUSTED']) {
  const { busy, size, waiting, maxWaiting } = facts;
  const message = `The pool has ${busy} of ${size} slots in use and ${waiting} calls waiting (maxWaiting: ${maxWaiting})`;
  return make('ERR_POOL_EXHAUSTED', message, facts);
}

/**
 * Makes the error for a call for which no slot became free in time. Without `tenant`, the error is
 * for a slot's step or a template that exceeded its deadline.
 */
export function poolTimeout(facts: ErrorFacts['ERR_POOL_TIMEOUT'], cause?: unknown) {
  const { timeoutMs, tenant, size, busy, waiting } = facts;
  const call = `No slot of the pool became free within ${timeoutMs} ms: ${busy} of ${size} are in use, ${waiting} calls wait`;
  const message = tenant === undefined ? `A slot of the pool was not ready within ${timeoutMs} ms` : call;
  return make('ERR_POOL_TIMEOUT', message, facts, cause);
}

/** Makes the error for a call to a pool that is being drained or was disposed. */
export function poolDisposed(draining: boolean) {
  return make('ERR_POOL_DISPOSED', draining ? 'The pool is being drained' : 'The pool has been disposed', { draining });
}

/** Makes the error for a call to a runtime that the caller has released to its pool. */
export function poolReleased() {
  return make('ERR_POOL_RELEASED', 'The runtime has been released to its pool', {});
}

/** Makes the error for a file of the host machine that the command cannot read. */
export function commandFile(path: string, reason: string, cause?: unknown) {
  return make('ERR_COMMAND_FILE', `The file ${path} cannot be read: ${reason}`, { path, reason }, cause);
}

/** Makes the error for an unknown session of the command's server. */
export function sessionNotFound(session: string) {
  return make('ERR_SESSION_NOT_FOUND', `There is no session ${JSON.stringify(session)}`, { session });
}

/** Makes the error for a new session beyond the limit of the command's server. */
export function sessionLimit(facts: ErrorFacts['ERR_SESSION_LIMIT']) {
  return make('ERR_SESSION_LIMIT', `The server has ${facts.sessions} of ${facts.maxSessions} sessions (--max-sessions)`, facts);
}

/** Makes the error for an SDK and a sidecar of different releases. */
export function versionMismatch(sdk: string, sidecar: string) {
  const message = `The SDK has version ${sdk}, the sidecar ${sidecar}: install one release of both`;
  return make('ERR_VERSION_MISMATCH', message, { sdk, sidecar });
}

/** Makes the error for a frame whose size, in its header or when it is sent, exceeds `maxBytes`. */
export function frameTooLarge(bytes: number, maxBytes: number) {
  const message = `A message of ${bytes} bytes does not fit into a frame of at most ${maxBytes} bytes`;
  return make('ERR_FRAME_TOO_LARGE', message, { bytes, maxBytes });
}

/** Makes the error for a message of the sidecar that the protocol does not allow. */
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
