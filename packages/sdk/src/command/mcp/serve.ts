// `coldframe mcp`: a server of the Model Context Protocol on stdin and stdout. The sessions share
// one sidecar process. The options of the command apply to every session, and a client cannot
// change them. Next: `tools.ts`, `sessions.ts`.

import { constants } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { invalidOption } from '../../errors/make.js';
import { whole } from '../../options/rule.js';
import { show } from '../../options/show.js';
import { VERSION } from '../../version.js';
import { nameOf, textOf, wrongOperands } from '../parse.js';
import { loadSdk } from '../program.js';
import { numberOf, runtimeOptions, timeoutOf } from '../runtime-options.js';
import type { Arguments } from '../subcommand.js';
import { Sessions } from './sessions.js';
import { registerTools } from './tools.js';

const MAX_SESSIONS = 16;
const IDLE_SECONDS = 900;
const TIMEOUT_MS = 30_000;
/** The default of `limits.outputBytes`. A model reads the output. */
const OUTPUT_BYTES = 262_144;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const INSTRUCTIONS = `Runs untrusted Node.js code and shell commands in a sandbox without network access to other
machines. Files are in /workspace and stay in the session. Take a snapshot before a risky step, and roll back after it.`;

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
    const sessions = new Sessions(create, { maxSessions, idleMs });
    const server = new McpServer({ name: 'coldframe', version: VERSION }, { instructions: INSTRUCTIONS });
    const pending = registerTools(server, sessions, { timeoutMs });
    const exitCode = ended(pending);
    await server.connect(new StdioServerTransport());
    return await exitCode;
  } finally {
    await sidecar.dispose();
  }
}

/**
 * Resolves with the exit code with a signal, or when the client has closed stdin and all its calls
 * have their results.
 */
function ended(pending: ReadonlySet<Promise<unknown>>): Promise<number> {
  const finish = async (): Promise<number> => {
    // A call begins, and its result is written, in a turn of the event loop of its own.
    await setImmediate();
    while (pending.size > 0) {
      await Promise.allSettled(pending);
      await setImmediate();
    }
    return 0;
  };
  return new Promise((resolve) => {
    process.stdin.once('end', () => resolve(finish()));
    process.stdin.once('close', () => resolve(finish()));
    for (const signal of SIGNALS) process.once(signal, () => resolve(128 + constants.signals[signal]));
  });
}

function wholeOf(args: Arguments, flag: string, fallback: number, max: number, unit: string): number {
  const text = textOf(args, flag);
  if (text === undefined) return fallback;
  const value = numberOf(text);
  const fault = whole(1, max, unit).fault(value);
  if (fault === undefined) return Number(value);
  throw invalidOption(nameOf(args.subcommand), { option: `--${flag}`, expected: fault.expected, received: show(value) });
}
