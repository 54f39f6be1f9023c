// A sidecar in this process: the addon as a transport.
//
// The addon reads the frames that a sidecar process reads from its socket. Creating a runtime,
// starting a program and evaluating a snippet use functions instead of frames, because this mode
// exists for short start times. If a program ends within the call that starts it (see
// `inlineBudgetMs`), the call returns the outcome without a promise. Next: `addon.ts`, the addon's
// functions.

import { type Channel, createChannel } from '../channel/channel.js';
import { connectChannel, type FastCalls } from '../channel/connection.js';
import type { Outcome } from '../channel/outcome.js';
import type { Opened, Opening } from '../channel/sidecar-connection.js';
import { now } from '../clock.js';
import { deferred } from '../deferred.js';
import { fromWire, sidecarDisposed, sidecarSpawn } from '../errors/make.js';
import { requireFile } from '../packages/installed.js';
import { outcome } from '../protocol/generated/decoders.js';
import type { Failure, RequestId, RuntimeCreate } from '../protocol/generated/messages.js';
import { VERSION } from '../version.js';
import { type Addon, type AddonOptions, type AddonSession, Event, makeOutcome, type OnEvent } from './addon.js';

/** The addon's number for each mode of a program. */
const MODES = { exec: 0, run: 1, file: 2, command: 3 } as const;

/** Loads the addon at `path` and opens a session in it. */
export function openAddon(path: string, options: AddonOptions): Opening {
  const begin = now();
  const opening = deferred<Opened>();
  let failure: Error | undefined;
  let image = '';
  const onEvent: OnEvent = (kind, id, payload) => {
    if (kind === Event.outcome) channel.settle(id as RequestId, payload);
    else channel.receive(payload as Buffer);
  };
  const session = translated(() => load(path).open(options, onEvent, makeOutcome));
  const channel = createChannel({
    version: VERSION,
    immediate: true,
    write: (bytes) => translated(() => session.send(bytes)) ?? undefined,
    onHello: (hello) => {
      image = hello.image;
      opening.resolve({ sessionMs: now() - begin, moduleLoadMs: hello.loadNs / 1e6 });
    },
    onBusy: () => session.hold(true),
    onIdle: () => session.hold(false),
    onClose(error) {
      failure = error;
      session.shutdown();
    },
  });
  channel.receive(session.hello);
  if (failure !== undefined) throw failure;
  const dispose = async (): Promise<void> => channel.close(sidecarDisposed());
  const connection = connectChannel(channel, { pid: process.pid, dispose, walls: () => [], image: () => image }, (framed) =>
    fastCalls(session, channel, framed),
  );
  return { connection, opened: opening.promise };
}

function load(path: string): Addon {
  try {
    return requireFile<Addon>(path);
  } catch (error) {
    throw sidecarSpawn(path, (error as Error).message, error);
  }
}

function fastCalls(session: AddonSession, channel: Channel, framed: FastCalls): FastCalls {
  const call = <T>(work: () => T): T => {
    if (channel.isOver()) throw sidecarDisposed();
    return translated(work);
  };
  // Returns the outcome, or a promise of the outcome if the program did not end within the call.
  const endOf = (id: RequestId, end: Outcome | Buffer | null): Outcome | Promise<Outcome> => {
    if (end !== null && !(end instanceof Uint8Array)) return end;
    const waiting = channel.expect<Outcome>(id, outcome);
    if (end !== null) channel.receive(end);
    return waiting;
  };
  return {
    async createRuntime(options, onWarning) {
      if (!isPlain(options)) return framed.createRuntime(options, onWarning);
      const begin = now();
      const { env, cwd, limits, profile, tenant } = options;
      const [names, values] = listsOf(limits);
      const runtime = call(() => session.createRuntime(env, cwd, profile, names, values, tenant));
      return { runtime, configureNs: (now() - begin) * 1e6 };
    },
    start(id, program, onOutput, onStarted) {
      const { runtime, mode, code, args, execArgv, env, cwd, stdin, timeoutMs } = program;
      const { language, limits, stream, live, user, keepOrphans } = program;
      const isPlainStart = [language, stream, live, limits, user, keepOrphans].every((option) => option === undefined);
      if (!isPlainStart) return framed.start(id, program, onOutput, onStarted);
      return endOf(
        id,
        call(() => session.start(id, runtime, MODES[mode], code, args, env, cwd, stdin, timeoutMs, execArgv)),
      );
    },
    evaluate(id, snippet, onOutput) {
      const { runner, code, timeoutMs, stream, returns, env, cwd, until, cell } = snippet;
      const options = [stream, returns, env, cwd, until, cell];
      if (options.some((option) => option !== undefined)) return framed.evaluate(id, snippet, onOutput);
      return endOf(
        id,
        call(() => session.evaluate(id, runner, code, timeoutMs)),
      );
    },
  };
}

/** Returns whether the positional call accepts all options of a runtime. */
function isPlain({ files, mounts, permissions, outside, bindings, snapshot, warn, weight }: RuntimeCreate): boolean {
  return [files, mounts, permissions, outside, bindings, snapshot, warn, weight].every((option) => option === undefined);
}

// Converts limits to the addon's arguments: a list of names and a list of values.
function listsOf(limits: RuntimeCreate['limits']): [string[]?, number[]?] {
  if (limits === undefined) return [];
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return [given.map(([name]) => name), given.map(([, value]) => value)];
}

// Translates the addon's errors, which have `code` and `details`. Any other error is a defect and
// is thrown unchanged.
function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && 'details' in error)) throw error;
    const { code, message, details } = error as Error & Failure;
    throw fromWire(code, message, details);
  }
}
