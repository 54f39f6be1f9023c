// Waits until a server in a sandbox is ready: a program listens at a port. If the caller names a
// path, the server must also answer a GET with a status below 400.

import { setTimeout as sleep } from 'node:timers/promises';
import { isColdframeError } from 'coldframe';
import { notRunning, SandboxFailure } from './failure.js';
import type { Sandbox } from './sandbox.js';

/** The server that a caller waits for. */
export interface ProbeWish {
  port: number;
  /** The path of a request that the server must answer. Without a path, listening is enough. */
  path: string | undefined;
  timeoutMs: number;
}

/** The time between two requests to a server that is not ready. */
const EVERY_MS = 50;
/** The longest time of one request. A server may accept connections and not answer yet. */
const REQUEST_MS = 5_000;

/** The errors of a runtime that was paused or has ended. */
const OVER = ['ERR_RUNTIME_PAUSED', 'ERR_RUNTIME_DISPOSED', 'ERR_SIDECAR_DISPOSED', 'ERR_SIDECAR_EXITED'] as const;

/**
 * Resolves when the server is ready. Fails with `not-ready` after the time, and with `not-running`
 * if the sandbox is paused or ends meanwhile.
 */
export async function probe({ id, runtime }: Sandbox, { port, path, timeoutMs }: ProbeWish, signal: AbortSignal): Promise<void> {
  const until = performance.now() + timeoutMs;
  const left = (): number => Math.max(1, Math.ceil(until - performance.now()));
  const failed = (error: unknown): unknown => (isColdframeError(error, ...OVER) ? notRunning(id) : error);
  try {
    await runtime.waitForListener({ port }, { timeoutMs: left(), signal });
  } catch (error) {
    if (!isColdframeError(error, 'ERR_LISTENER_TIMEOUT', 'ERR_PROGRAM_EXITED')) throw failed(error);
    throw notReady(`no program listens at port ${port}`, timeoutMs);
  }
  if (path === undefined) return;
  let reply: string | undefined;
  for (;;) {
    let last: string;
    try {
      const { status } = await runtime.fetch(port, { path, timeoutMs: Math.min(left(), REQUEST_MS), signal });
      if (status < 400) return;
      last = reply = `has the status ${status}`;
    } catch (error) {
      if (!isColdframeError(error) || isColdframeError(error, ...OVER)) throw failed(error);
      last = `fails: ${error.message}`;
    }
    // At the end of the time, the last reply says more than a request without a reply.
    if (performance.now() >= until) throw notReady(`GET ${path} at port ${port} ${reply ?? last}`, timeoutMs);
    await sleep(Math.min(left(), EVERY_MS), undefined, { signal });
  }
}

const notReady = (reason: string, timeoutMs: number): SandboxFailure =>
  new SandboxFailure('not-ready', `The server is not ready after ${timeoutMs} ms: ${reason}`);
