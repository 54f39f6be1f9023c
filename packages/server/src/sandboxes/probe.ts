// Waits until a server in a sandbox is ready: a program listens at a port. If the caller names a
// path, the server must also answer a GET with a status below 400.

import { setTimeout as sleep } from 'node:timers/promises';
import { isColdframeError, type NodeRuntime } from 'coldframe';
import { SandboxFailure } from './failure.js';

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

/** Resolves when the server is ready. Fails with `not-ready` after the time. */
export async function probe(runtime: NodeRuntime, { port, path, timeoutMs }: ProbeWish, signal: AbortSignal): Promise<void> {
  const until = performance.now() + timeoutMs;
  const left = (): number => Math.max(1, Math.ceil(until - performance.now()));
  let hasAnswered = false;
  let last = `no program listens at port ${port}`;
  try {
    await runtime.waitForListener({ port }, { timeoutMs: left(), signal });
  } catch (error) {
    if (!isColdframeError(error, 'ERR_LISTENER_TIMEOUT', 'ERR_PROGRAM_EXITED')) throw error;
    throw notReady(last, timeoutMs);
  }
  while (path !== undefined && performance.now() < until) {
    try {
      const { status } = await runtime.fetch(port, { path, timeoutMs: Math.min(left(), REQUEST_MS), signal });
      if (status < 400) return;
      hasAnswered = true;
      last = `GET ${path} at port ${port} has the status ${status}`;
    } catch (error) {
      if (!isColdframeError(error)) throw error;
      // The end of the time says less than an earlier answer.
      if (performance.now() < until || !hasAnswered) last = `GET ${path} at port ${port}: ${error.message}`;
    }
    await sleep(Math.min(left(), EVERY_MS), undefined, { signal });
  }
  if (path !== undefined) throw notReady(last, timeoutMs);
}

const notReady = (reason: string, timeoutMs: number): SandboxFailure =>
  new SandboxFailure('not-ready', `The server is not ready after ${timeoutMs} ms: ${reason}`);
