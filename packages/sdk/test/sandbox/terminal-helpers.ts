// Reads the output of a terminal for tests.

import type { NodeRuntime, OpenTerminalOptions, Terminal } from '../../src/index.js';

/** A terminal whose output a test waits for. */
export interface Screen {
  terminal: Terminal;
  /** Returns all output so far. */
  text(): string;
  /** Waits until the output after the last wait has `part`, and returns that output. */
  waitFor(part: string | RegExp): Promise<string>;
}

const PATIENCE_MS = 20_000;

/** Opens a terminal and gathers its output. */
export async function openScreen(runtime: NodeRuntime, options: OpenTerminalOptions): Promise<Screen> {
  let text = '';
  let seen = 0;
  let changed = (): void => {};
  const onData = (data: Uint8Array): void => {
    text += Buffer.from(data).toString('latin1');
    changed();
  };
  const terminal = await runtime.openTerminal({ ...options, onData });
  const waitFor = async (part: string | RegExp): Promise<string> => {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const rest = text.slice(seen);
      const found = typeof part === 'string' ? rest.indexOf(part) : rest.search(part);
      if (found !== -1) {
        const length = typeof part === 'string' ? part.length : (rest.match(part)?.[0].length ?? 0);
        seen += found + length;
        return rest.slice(0, found + length);
      }
      const left = until - Date.now();
      if (left <= 0) throw new Error(`${part} is not in the output: ${JSON.stringify(rest)}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        changed = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  return { terminal, text: () => text, waitFor };
}

/** Options of a terminal that runs `code` in node. */
export const node = (code: string): OpenTerminalOptions => ({ command: 'node', args: ['-e', code], env: { NO_COLOR: '1' } });
