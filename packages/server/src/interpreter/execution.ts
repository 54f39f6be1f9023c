// One execution: runs a cell in the runner of its context, and writes events while the cell runs.

import type { ServerResponse } from 'node:http';
import { type CellResult, isColdframeError } from 'coldframe';
import type { Context, Contexts } from './contexts.js';
import { type ExecutionEvent, errorOf, lineOf, resultOf } from './events.js';
import { type RunnerLanguage, runnerLanguageOf, unavailable } from './languages.js';
import { Lines } from './lines.js';

/** The time between two keepalive events. */
const KEEPALIVE_MS = 5_000;

/** The request of an execution. */
export interface Execution {
  readonly code: string;
  readonly env: Record<string, string> | undefined;
}

/**
 * Runs an execution and ends the response. If the client closes the connection, the cell is
 * interrupted, and the context keeps its state.
 */
export async function execute(
  contexts: Contexts,
  context: Context,
  execution: Execution,
  response: ServerResponse,
): Promise<void> {
  const closed = new AbortController();
  const onClose = (): void => closed.abort();
  response.once('close', onClose);
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const stream = new EventStream(response);
  try {
    context.executions++;
    stream.send({ type: 'number_of_executions', execution_count: context.executions });
    await run(contexts, context, execution, stream, closed.signal);
  } catch (error) {
    if (!closed.signal.aborted) stream.send(failureOf(error));
  } finally {
    response.removeListener('close', onClose);
    stream.send({ type: 'end_of_execution' });
    stream.end();
  }
}

/** Milliseconds that the first event waits for the second event. */
const GATHER_MS = 5;

/**
 * Writes events to a response. The first event waits a few milliseconds for the second event, so
 * that a short execution has one write. Each later event is written at once.
 */
class EventStream {
  readonly #response: ServerResponse;
  readonly #keepalive: NodeJS.Timeout;
  #count = 0;
  #gathering: NodeJS.Timeout | undefined;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.cork();
    this.#gathering = setTimeout(() => this.#flush(), GATHER_MS);
    this.#keepalive = setInterval(() => this.send({ type: 'keepalive' }), KEEPALIVE_MS);
  }

  /** Writes an event. Returns a promise if the client must read before the next write. */
  send(event: ExecutionEvent): Promise<void> | undefined {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return undefined;
    const isRead = response.write(lineOf(event));
    // The events of one result arrive in one turn of the event loop.
    if (++this.#count > 1 && this.#gathering !== undefined) setImmediate(() => this.#flush());
    if (isRead) return undefined;
    return new Promise((resolve) => {
      const done = (): void => {
        response.removeListener('drain', done);
        response.removeListener('close', done);
        resolve();
      };
      response.once('drain', done);
      response.once('close', done);
    });
  }

  #flush(): void {
    if (this.#gathering === undefined) return;
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#response.uncork();
  }

  end(): void {
    clearInterval(this.#keepalive);
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#response.end();
  }
}

async function run(
  contexts: Contexts,
  context: Context,
  execution: Execution,
  stream: EventStream,
  signal: AbortSignal,
): Promise<void> {
  const language = runnerLanguageOf(context.language);
  if (language === undefined) {
    const message = unavailable(context.language);
    stream.send(errorOf({ name: 'LanguageNotAvailable', message, stack: message }));
    return;
  }
  const result = await cell(contexts, context, language, execution, stream, signal);
  for (const event of eventsOf(result, language)) await stream.send(event);
}

async function cell(
  contexts: Contexts,
  context: Context,
  language: RunnerLanguage,
  { code, env }: Execution,
  stream: EventStream,
  signal: AbortSignal,
): Promise<CellResult> {
  const output = (type: 'stdout' | 'stderr') => {
    let reading: Promise<void> | undefined;
    const lines = new Lines((text) => {
      reading = stream.send({ type, text, timestamp: new Date().toISOString() });
    });
    const add = (chunk: Uint8Array): Promise<void> | undefined => {
      reading = undefined;
      lines.add(chunk);
      return reading;
    };
    return { add, end: () => lines.end() };
  };
  const [stdout, stderr] = [output('stdout'), output('stderr')];
  const runCell = async (): Promise<CellResult> => {
    const runner = await contexts.runnerOf(context, language);
    signal.throwIfAborted();
    return runner.cell(code, { language: language.cell, env, signal, onStdout: stdout.add, onStderr: stderr.add });
  };
  try {
    return await runCell();
  } catch (error) {
    // An earlier cell has ended the runner's process, for example with `process.exit()`.
    if (!isColdframeError(error, 'ERR_RUNNER_EXITED')) throw error;
    context.forget();
    return await runCell();
  } finally {
    stdout.end();
    stderr.end();
  }
}

function* eventsOf(
  { results, thrown, error, earlierErrors }: CellResult,
  { cell: language }: RunnerLanguage,
): Generator<ExecutionEvent> {
  for (const earlier of earlierErrors) {
    yield { type: 'stderr', text: `${earlier.stack}\n`, timestamp: new Date().toISOString() };
  }
  for (const result of results) yield resultOf(result, language);
  if (thrown !== undefined) yield errorOf(thrown);
  else if (error !== undefined) yield failureOf(error);
}

function failureOf(error: unknown): ExecutionEvent {
  const { code, message } =
    error instanceof Error ? (error as Error & { code?: string }) : { code: undefined, message: String(error) };
  return errorOf({ name: code ?? 'ExecutionError', message, stack: message });
}
