// `coldframe sandbox sh ID [COMMAND...]`: a terminal in a sandbox of a server, over the protocol of
// the page's terminal.

import { WebSocket } from 'ws';
import { type Socket, TERMINAL_PROTOCOL, Terminal, terminalUrl } from '../client/index.js';
import { clientOf } from './account.js';
import { type CommandCall, CommandError, pairsOf, textOf } from './call.js';

const END_OF_INPUT = 4;
const DEFAULT_SIZE = { cols: 80, rows: 24 };

const sizeNow = () => {
  const { columns: cols, rows } = process.stdout;
  return cols > 0 && rows > 0 ? { cols, rows } : DEFAULT_SIZE;
};

/** Opens the terminal, and returns the exit code of its program. */
export async function shell(call: CommandCall): Promise<number> {
  const [, id, ...command] = call.operands;
  if (id === undefined) throw new CommandError('coldframe sandbox sh: expected ID [COMMAND...]');
  const { place } = await clientOf(call);
  const [cwd, user] = [textOf(call, 'cwd'), textOf(call, 'user')];
  const { stdin, stdout } = process;
  const socket = new WebSocket(terminalUrl(place, id), TERMINAL_PROTOCOL);
  return new Promise((resolve, reject) => {
    const onResize = (): void => terminal.resize(sizeNow());
    const wish = {
      ...sizeNow(),
      envs: pairsOf(call, 'env'),
      ...(command.length === 0 ? {} : { command }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(user === undefined ? {} : { user }),
    };
    const terminal = new Terminal(socket as unknown as Socket, place.apiKey, wish, {
      onOutput: (bytes) => {
        // The server waits while the socket is paused.
        if (stdout.write(bytes)) return;
        socket.pause();
        stdout.once('drain', () => socket.resume());
      },
      onEnd: ({ exitCode, message }) => {
        stdout.off('resize', onResize);
        stdin.off('data', onInput);
        if (stdin.isTTY) stdin.setRawMode(false);
        stdin.pause();
        if (exitCode !== undefined) resolve(exitCode);
        else reject(new CommandError(message ?? 'The connection to the terminal ended', 'Open the terminal again.'));
      },
    });
    const onInput = (bytes: Buffer): void => terminal.write(Uint8Array.from(bytes));
    socket.once('open', () => {
      if (stdin.isTTY) stdin.setRawMode(true);
      stdin.on('data', onInput);
      // The end of a script is Ctrl-D.
      if (!stdin.isTTY) stdin.once('end', () => terminal.write(Uint8Array.of(END_OF_INPUT)));
    });
    stdout.on('resize', onResize);
  });
}
