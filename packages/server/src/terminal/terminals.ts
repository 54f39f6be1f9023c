// The terminals of sandboxes over WebSockets. The page and `coldframe sandbox sh` use them.
//
// A browser cannot set headers of a WebSocket, and URLs are written to logs. So the first message
// has the key, and a connection without a right first message ends soon. Next: `messages.ts`,
// `shell.ts`.

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isColdframeError } from 'coldframe';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { isAllowed, type Keys } from '../access/keys.js';
import { TERMINAL_PROTOCOL } from '../client/terminal.js';
import { userOf } from '../envd/user.js';
import { targetOf } from '../front/target.js';
import { sandboxIdOf } from '../ids.js';
import { SandboxFailure } from '../sandboxes/failure.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import { jsonOf, OpenMessage, ResizeMessage, type ServerMessage } from './messages.js';
import { openShell, type Shell } from './shell.js';

const PATH = /^\/sandboxes\/([A-Za-z0-9-]{1,100})\/terminal$/;
/** The time for the first message. */
const OPEN_MS = 10_000;
/** A terminal without input and output for this time ends. */
const IDLE_MS = 30 * 60_000;
/** The time between two pings. A client that has not answered the last ping is removed. */
const PING_MS = 30_000;
const MESSAGE_BYTES = 64 << 10;
/** Output that waits for a client until the program waits. */
const WAITING_BYTES = 256 << 10;
const MOST_TERMINALS = 1_000;
/** The code of a close because of a request that the server refuses. */
const REFUSED = 1008;

/** The parts of the server that terminals use. */
export interface TerminalParts {
  sandboxes: Sandboxes;
  keys: Keys;
}

/** A handler of the event `upgrade`. Returns whether the request was for a terminal. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;

/** Makes the handler of the terminals. */
export function createTerminals(parts: TerminalParts): UpgradeHandler {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(TERMINAL_PROTOCOL) ? TERMINAL_PROTOCOL : false),
  });
  let count = 0;
  return (request, socket, head) => {
    const [, id] = PATH.exec((request.url ?? '').split('?', 1)[0] as string) ?? [];
    if (id === undefined || targetOf(request) !== undefined) return false;
    if (!isSameOrigin(request)) return refuseUpgrade(socket, '403 Forbidden');
    if (count >= MOST_TERMINALS) return refuseUpgrade(socket, '429 Too Many Requests');
    server.handleUpgrade(request, socket, head, (client) => {
      count++;
      client.once('close', () => count--);
      new Connection(client, { id: sandboxIdOf(id), socket: socket as Socket, parts });
    });
    return true;
  };
}

// A page of another origin may open WebSockets too. Clients without a browser send no origin.
function isSameOrigin({ headers }: IncomingMessage): boolean {
  const { origin, host } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

function refuseUpgrade(socket: Duplex, status: string): true {
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  return true;
}

/** The connection of one client. */
class Connection {
  readonly #client: WebSocket;
  readonly #id: string;
  readonly #socket: Socket;
  readonly #parts: TerminalParts;
  #state: 'new' | 'opening' | 'open' = 'new';
  #shell: Shell | undefined;
  /** Input that arrived before the program has started. */
  #early: Buffer[] = [];
  #release: () => void = () => {};
  #timer: NodeJS.Timeout;
  readonly #pings: NodeJS.Timeout;
  #isAnswered = true;

  constructor(client: WebSocket, { id, socket, parts }: { id: string; socket: Socket; parts: TerminalParts }) {
    this.#client = client;
    this.#id = id;
    this.#socket = socket;
    this.#parts = parts;
    this.#timer = setTimeout(() => this.#refuse('The first message did not arrive'), OPEN_MS);
    this.#pings = setInterval(() => this.#ping(), PING_MS);
    client.on('pong', () => {
      this.#isAnswered = true;
    });
    client.on('error', () => client.terminate());
    client.on('message', (data, isBinary) => void this.#receive(data, isBinary).catch(() => client.terminate()));
    client.once('close', () => this.#end());
  }

  async #receive(data: RawData, isBinary: boolean): Promise<void> {
    if (isBinary) return this.#input(data as Buffer);
    const json = jsonOf(String(data));
    if (this.#state === 'new') {
      const { success, data: wish } = OpenMessage.safeParse(json);
      if (success) return this.#open(wish);
      return this.#refuse('The first message must open the terminal');
    }
    const { success, data: size } = ResizeMessage.safeParse(json);
    if (!success) return this.#refuse('A text message must change the size');
    await this.#shell?.resize(size.cols, size.rows);
  }

  async #input(bytes: Buffer): Promise<void> {
    const shell = this.#shell;
    if (shell === undefined) {
      if (this.#state === 'new') return this.#refuse('The first message must open the terminal');
      // The socket is paused, so this is at most the rest of one packet.
      if (this.#state === 'opening') this.#early.push(bytes);
      return;
    }
    this.#timer.refresh();
    // The client waits while the program does not read.
    this.#client.pause();
    try {
      await shell.write(bytes);
    } catch (error) {
      // The program has ended, or does not read its input.
      if (!isColdframeError(error)) throw error;
    } finally {
      this.#client.resume();
    }
  }

  async #open(wish: OpenMessage): Promise<void> {
    this.#state = 'opening';
    this.#client.pause();
    const caller = this.#parts.keys.find(wish.apiKey);
    if (caller === undefined) return this.#refuse('The key is not valid');
    if (!isAllowed(caller, 'exec')) return this.#refuse('The key lacks the scope exec');
    try {
      const record = this.#parts.sandboxes.find(caller.tenant, this.#id);
      const running = this.#parts.sandboxes.running(record.id);
      if (running === undefined) return this.#refuse(`The sandbox ${record.id} is not running`);
      const name = wish.user ?? record.user;
      const user = userOf(name);
      if (user === undefined) return this.#refuse(`There is no user ${JSON.stringify(name)}`);
      const { sandbox } = running;
      const cwd = wish.cwd ?? record.workdir;
      const shell = await openShell(
        sandbox.runtime,
        { ...wish, cwd },
        { user, env: record.env, onOutput: (bytes) => this.#output(bytes) },
      );
      if (this.#client.readyState !== this.#client.OPEN) return void (await shell.kill());
      this.#shell = shell;
      this.#state = 'open';
      this.#release = sandbox.hold(this.#socket);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#refuse('The terminal was idle for too long'), IDLE_MS);
      this.#send({ type: 'opened', pid: shell.pid, pty: shell.pty });
      const early = this.#early.splice(0);
      this.#client.resume();
      if (early.length > 0) await this.#input(Buffer.concat(early));
      const exitCode = await shell.ended;
      this.#shell = undefined;
      this.#send({ type: 'exit', exitCode });
      this.#client.close();
    } catch (error) {
      if (!(error instanceof SandboxFailure) && !isColdframeError(error)) throw error;
      this.#refuse(error.message);
    }
  }

  #output(bytes: Uint8Array): Promise<void> | undefined {
    const client = this.#client;
    if (client.readyState !== client.OPEN) return undefined;
    this.#timer.refresh();
    if (client.bufferedAmount < WAITING_BYTES) {
      client.send(bytes);
      return undefined;
    }
    return new Promise((resolve) => client.send(bytes, () => resolve()));
  }

  #send(message: ServerMessage): void {
    if (this.#client.readyState === this.#client.OPEN) this.#client.send(JSON.stringify(message));
  }

  #refuse(message: string): void {
    this.#send({ type: 'error', message });
    this.#client.close(REFUSED);
    // The client's answer to the close is read.
    this.#client.resume();
  }

  #ping(): void {
    const wasAnswered = this.#isAnswered;
    this.#isAnswered = false;
    if (wasAnswered) this.#client.ping();
    else this.#client.terminate();
  }

  #end(): void {
    clearTimeout(this.#timer);
    clearInterval(this.#pings);
    this.#release();
    this.#shell?.kill().catch(() => {});
    this.#shell = undefined;
  }
}
