// A dispatcher of undici for a guest's port. The dispatcher outlives the states of its runtime. Its
// connections, and the requests that wait for a connection, belong to one state of the runtime and
// end with that state. The next state gets new connections. undici is loaded at the first use.
// Next: `runtime-network.ts`, which starts a new state.

import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { requireInstalled } from '../packages/installed.js';
import type { GuestStream } from './guest-stream.js';

/**
 * The largest number of connections to one port. These connections and the guest's ends fit into
 * the default of `limits.sockets`. Further requests wait for a connection.
 */
const CONNECTIONS = 64;
/**
 * Milliseconds that an unused connection is kept. The guest may request a shorter time, but not a
 * longer time, because an open connection prevents the pause of its runtime.
 */
const KEEP_ALIVE_MS = 4_000;

/**
 * undici by the name of its file. Bun replaces the module `undici` with a module of its own, whose
 * agents cannot use a given connection.
 */
const UNDICI = 'undici/index.js';

/** The events of undici's agents that the dispatcher emits too. */
const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain'];

/**
 * A dispatcher for the app, and the function that replaces the dispatcher's connections when the
 * runtime changes to another state.
 */
export interface PortDispatcher {
  /** The dispatcher for the app. The app may close or destroy the dispatcher. */
  readonly dispatcher: Dispatcher & { readonly closed: boolean; readonly destroyed: boolean };
  /**
   * Ends all pending requests with `reason`. Later requests use new connections, unless the app has
   * closed the dispatcher.
   */
  renew(reason: Error): void;
}

/** Runs `work` when a connection into a state may be made. Rejects if the state has ended. */
export type WithinState = (work: () => void) => Promise<void>;

/** Makes a dispatcher for a guest's port. Calls `enter` for each state of the runtime. */
export function portDispatcher(port: number, connect: () => GuestStream, enter: () => WithinState): PortDispatcher {
  const undici = requireInstalled<typeof import('undici')>(UNDICI);
  // undici needs an origin, but only the path and the query of a URL are used. The guest reads the
  // host of the origin in the header `host`.
  const origin = `http://localhost:${port}`;
  let agent: Agent;

  class RenewableDispatcher extends undici.Dispatcher {
    get closed(): boolean {
      return agent.closed;
    }

    get destroyed(): boolean {
      return agent.destroyed;
    }

    // undici reads the bounds for WebSockets and event streams from these options.
    get webSocketOptions(): unknown {
      return Reflect.get(agent, 'webSocketOptions');
    }

    get eventSourceOptions(): unknown {
      return Reflect.get(agent, 'eventSourceOptions');
    }

    override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      return agent.dispatch({ ...options, origin: options.origin ?? origin }, handler);
    }

    override close(...args: unknown[]): Promise<void> {
      return Reflect.apply(agent.close, agent, args);
    }

    override destroy(...args: unknown[]): Promise<void> {
      return Reflect.apply(agent.destroy, agent, args);
    }
  }

  const dispatcher = new RenewableDispatcher();
  const makeAgent = (): Agent => {
    const within = enter();
    const made = new undici.Agent({
      connections: CONNECTIONS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      connect: (_options, callback) => {
        const failed = (error: Error): void => callback(error, null);
        within(() => {
          const stream = connect();
          stream.once('error', failed);
          stream.once('connect', () => {
            stream.off('error', failed);
            // These listeners run before the listeners of undici.
            stream.on('error', () => continueParser(stream)).on('close', () => continueParser(stream));
            // undici uses only methods that every Duplex has.
            callback(null, stream as unknown as Socket);
          });
        }).catch(failed);
      },
    });
    for (const event of EVENTS) forward(event, made, dispatcher);
    return made;
  };
  agent = makeAgent();
  return {
    dispatcher,
    renew(reason) {
      const before = agent;
      if (!before.closed && !before.destroyed) agent = makeAgent();
      before.destroy(reason).catch(() => {});
    },
  };
}

// Continues a paused parser before its connection ends with an error. Otherwise undici would throw
// an assertion into the app's event loop. undici does not export the parser. The parser is found by
// the description of its symbol.
function continueParser(stream: GuestStream): void {
  const key = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'parser');
  const parser: unknown = key && Reflect.get(stream, key);
  if (typeof parser === 'object' && parser !== null && 'paused' in parser) parser.paused = false;
}

function forward(event: string, from: EventEmitter, to: EventEmitter): void {
  from.on(event, (...args) => to.emit(event, ...args));
}
