// A client of the terminal of a sandbox, over one WebSocket. `docs/internals/terminal.md` has the
// protocol. The class accepts the WebSocket of a browser and of the package `ws`.

import type { Place } from './client.js';

/** The subprotocol of the WebSocket. */
export const TERMINAL_PROTOCOL = 'coldframe-terminal.v1';

/** The size of a terminal in characters. */
export interface TerminalSize {
  cols: number;
  rows: number;
}

/** The wish for a terminal. */
export interface TerminalWish extends TerminalSize {
  /** The command and its arguments. @default an interactive `bash` */
  command?: readonly string[];
  cwd?: string;
  envs?: Record<string, string>;
  /** `user` or `root`. @default `user` */
  user?: string;
}

/** Receives the events of a terminal. */
export interface TerminalEvents {
  onOutput(bytes: Uint8Array): void;
  /** The program has ended, or `undefined` without an exit code if the connection broke. */
  onEnd(end: { exitCode?: number; message?: string }): void;
}

/** The part of a WebSocket that browsers and `ws` share. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  addEventListener(type: 'open' | 'close' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
}

const OPEN = 1;

/** Returns the URL of a sandbox's terminal. The URL has no key and no token. */
export function terminalUrl({ url }: Place, id: string): string {
  return `${url.replace(/^http/, 'ws')}/sandboxes/${encodeURIComponent(id)}/terminal`;
}

/** A terminal of a sandbox. */
export class Terminal {
  readonly #socket: Socket;

  /** Opens a terminal over a new socket, which connects to `terminalUrl()`. */
  constructor(socket: Socket, apiKey: string, wish: TerminalWish, events: TerminalEvents) {
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    let end: { exitCode?: number; message?: string } = {};
    socket.addEventListener('open', () => socket.send(JSON.stringify({ type: 'open', apiKey, ...wish })));
    socket.addEventListener('message', ({ data }) => {
      if (data instanceof ArrayBuffer) return events.onOutput(new Uint8Array(data));
      const message = JSON.parse(String(data)) as { type: string; exitCode?: number; message?: string };
      if (message.type === 'exit' && message.exitCode !== undefined) end = { exitCode: message.exitCode };
      if (message.type === 'error') end = { message: message.message ?? 'The terminal failed' };
    });
    socket.addEventListener('error', () => {
      end = end.exitCode === undefined && end.message === undefined ? { message: 'The connection to the terminal failed' } : end;
    });
    socket.addEventListener('close', () => events.onEnd(end));
  }

  /** Sends input. Input before the connection, or after its end, is dropped. */
  write(bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === OPEN) this.#socket.send(bytes);
  }

  /** Changes the size. */
  resize({ cols, rows }: TerminalSize): void {
    if (this.#socket.readyState === OPEN) this.#socket.send(JSON.stringify({ type: 'resize', cols, rows }));
  }

  /** Ends the terminal with its program. */
  close(): void {
    this.#socket.close();
  }
}
