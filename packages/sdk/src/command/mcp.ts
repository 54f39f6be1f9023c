// `coldframe mcp`: a server of the Model Context Protocol on stdin and stdout. The sessions share
// one sidecar process. The options of the command apply to every session, and a client cannot
// change them. Next: `../mcp/index.ts`.

import { constants } from 'node:os';
import { invalidOption } from '../errors/make.js';
import { serveMcp } from '../mcp/index.js';
import { whole } from '../options/rule.js';
import { show } from '../options/show.js';
import { nameOf, textOf, wrongOperands } from './parse.js';
import { loadSdk } from './program.js';
import { numberOf, runtimeOptions, timeoutOf } from './runtime-options.js';
import type { Arguments } from './subcommand.js';

const MAX_SESSIONS = 16;
const IDLE_SECONDS = 900;
const TIMEOUT_MS = 30_000;
/** The default of `limits.outputBytes`. A model reads the output. */
const OUTPUT_BYTES = 262_144;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export async function execute(args: Arguments): Promise<number> {
  if (args.operands.length > 0) wrongOperands(args);
  const maxSessions = wholeOf(args, 'max-sessions', MAX_SESSIONS, 10_000, 'sessions');
  const idleMs = wholeOf(args, 'idle', IDLE_SECONDS, 604_800, 'seconds') * 1_000;
  const { timeout: timeoutMs = TIMEOUT_MS } = timeoutOf(args);
  const { limits, ...options } = runtimeOptions(args);
  const { NodeRuntime, Sidecar } = await loadSdk();
  const sidecar = await Sidecar.spawn();
  try {
    const create = () => NodeRuntime.create({ ...options, limits: { outputBytes: OUTPUT_BYTES, ...limits }, sidecar });
    const served = serveMcp({ create, maxSessions, idleMs, timeoutMs }).then(() => 0);
    return await Promise.race([served, signalled()]);
  } finally {
    await sidecar.dispose();
  }
}

/** Resolves with the exit code of a process that a signal ends. */
const signalled = (): Promise<number> =>
  new Promise((resolve) => {
    for (const signal of SIGNALS) process.once(signal, () => resolve(128 + constants.signals[signal]));
  });

function wholeOf(args: Arguments, flag: string, fallback: number, max: number, unit: string): number {
  const text = textOf(args, flag);
  if (text === undefined) return fallback;
  const value = numberOf(text);
  const fault = whole(1, max, unit).fault(value);
  if (fault === undefined) return Number(value);
  throw invalidOption(nameOf(args.subcommand), { option: `--${flag}`, expected: fault.expected, received: show(value) });
}
