// `coldframe sandbox exec ID COMMAND [ARGUMENT...]`: runs a command in a sandbox of a server, with
// the streams of this process.

import { constants } from 'node:os';
import { clientOf } from './account.js';
import { type CommandCall, CommandError, pairsOf, textOf } from './call.js';

/** The exit code of a program that a signal ended. */
const SIGNALLED = 137;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Runs the command, and returns its exit code. */
export async function exec(call: CommandCall): Promise<number> {
  const [, id, cmd, ...args] = call.operands;
  if (id === undefined || cmd === undefined) throw new CommandError('coldframe sandbox exec: expected ID COMMAND [ARGUMENT...]');
  const client = await clientOf(call);
  const agent = client.agent(await client.get(id));
  const hasInput = process.stdin.isTTY !== true;
  const [cwd, user] = [textOf(call, 'cwd'), textOf(call, 'user')];
  const options = { ...(cwd === undefined ? {} : { cwd }), ...(user === undefined ? {} : { user }) };
  let exitCode: number | undefined;
  let interrupted: number | undefined;
  let pid: number | undefined;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      const isFirst = interrupted === undefined;
      interrupted ??= 128 + constants.signals[signal];
      if (pid === undefined) process.exit(interrupted);
      void agent.signal(pid, isFirst ? 'SIGTERM' : 'SIGKILL').catch(() => {});
    });
  }
  for await (const event of agent.start({ cmd, args, envs: pairsOf(call, 'env'), stdin: hasInput, ...options })) {
    if (event.type === 'start') {
      pid = event.pid;
      if (hasInput) void pump(agent, event.pid);
    } else if (event.type === 'end') exitCode = event.exited ? event.exitCode : SIGNALLED;
    else await write(event.type === 'stdout' ? process.stdout : process.stderr, event.bytes);
  }
  return interrupted ?? exitCode ?? SIGNALLED;
}

// Passes stdin on. A program that no longer reads ends the loop.
async function pump(
  agent: { sendStdin(pid: number, bytes: Uint8Array): Promise<void>; closeStdin(pid: number): Promise<void> },
  pid: number,
): Promise<void> {
  try {
    for await (const chunk of process.stdin) await agent.sendStdin(pid, chunk as Buffer);
    await agent.closeStdin(pid);
  } catch {
    // The program has ended or does not read its stdin.
  }
}

async function write(stream: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  if (!stream.write(bytes)) await new Promise((resolve) => stream.once('drain', resolve));
}
