// The functions of the app that respond to requests out of one runtime (`handle` of a rule of
// `network.http`).
//
// The sidecar names a request, and this module opens a connection to the request. The head of the
// request has the number of the function. A function has one number in all runtimes, but each
// runtime finds only the functions of its own options. Next: `handled-request.ts`.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { NetworkOptions, RequestHandler } from '../options/outside.js';
import type { RuntimeId } from '../protocol/generated/messages.js';
import { respond } from './handled-request.js';
import { handlerNumber } from './handler-numbers.js';

/** The functions of one runtime. */
export class RuntimeHandlers {
  readonly #connection: SidecarConnection;
  readonly #runtime: RuntimeId;
  /** The functions that abort the open requests. */
  readonly #aborts = new Set<() => void>();
  #hasEnded = false;
  #handlers: ReadonlyMap<number, RequestHandler> = new Map();

  constructor(connection: SidecarConnection, runtime: RuntimeId) {
    this.#connection = connection;
    this.#runtime = runtime;
  }

  /** Replaces the functions by the functions of all `options`. */
  set(...options: (Pick<NetworkOptions, 'http'> | undefined)[]): void {
    const all = options.flatMap((one) => one?.http ?? []).flatMap(({ handle }) => handle ?? []);
    this.#handlers = new Map(all.map((handle) => [handlerNumber(handle), handle]));
    if (all.length > 0 && !this.#hasEnded) {
      this.#connection.watchHandlers(this.#runtime, (number) => this.#respond(number));
    }
  }

  /** Aborts the open requests. */
  abort(): void {
    for (const abort of [...this.#aborts]) abort();
  }

  /** Aborts the open requests. No function is called again. */
  end(): void {
    this.#hasEnded = true;
    this.#connection.watchHandlers(this.#runtime, undefined);
    this.#handlers = new Map();
    this.abort();
  }

  #respond(number: number): void {
    const { network } = this.#connection;
    respond(
      (listener) => network.handle(this.#runtime, number, listener),
      (handler) => this.#handlers.get(handler),
      this.#aborts,
    );
  }
}
