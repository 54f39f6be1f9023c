// Serves a guest's port at a loopback address of the host machine. Each connection to the address
// becomes a connection into the runtime, until one of the two connections closes.

import type { AddressInfo, Server, Socket } from 'node:net';
import { asyncDispose } from '../async-dispose.js';
import { requireBuiltin } from '../packages/installed.js';
import type { GuestStream } from './guest-stream.js';

/** A guest's port that this process serves, until `close()` or the end of the runtime. */
export class ExposedPort implements AsyncDisposable {
  /** The port of the host machine. */
  readonly port: number;
  /** The address of the host machine. */
  readonly host: string;
  /** The address and the port as a URL, such as `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  readonly #onClose: (port: ExposedPort) => void;
  #closing: Promise<void> | undefined;

  private constructor(server: Server, sockets: Set<Socket>, onClose: (port: ExposedPort) => void) {
    const { address, port } = server.address() as AddressInfo;
    this.host = address;
    this.port = port;
    this.url = `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
    this.#server = server;
    this.#sockets = sockets;
    this.#onClose = onClose;
  }

  /** @internal */
  static async open(
    host: string,
    hostPort: number,
    connect: () => GuestStream,
    onClose: (port: ExposedPort) => void,
  ): Promise<ExposedPort> {
    const sockets = new Set<Socket>();
    const server = requireBuiltin('node:net').createServer({ allowHalfOpen: true }, (socket) => {
      sockets.add(socket.on('close', () => sockets.delete(socket)));
      join(socket, connect());
    });
    server.listen(hostPort, host);
    await requireBuiltin('node:events').once(server, 'listening');
    return new ExposedPort(server, sockets, onClose);
  }

  /** Stops serving and ends all connections. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Calls `close()`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#onClose(this);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

// Connects `socket` and `guest`: passes data, ends and failures in both directions.
function join(socket: Socket, guest: GuestStream): void {
  socket.pipe(guest).pipe(socket);
  socket.on('error', () => {});
  guest.on('error', () => socket.resetAndDestroy());
  socket.on('close', (failed) => {
    if (failed) guest.resetAndDestroy();
    else if (!guest.writableEnded || !guest.readableEnded) guest.destroy();
  });
  guest.on('close', () => {
    if (!socket.writableEnded) socket.destroy();
  });
}
