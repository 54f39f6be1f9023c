// A dispatcher of undici for a guest's port, which outlives the states of its runtime: its connections and the requests that wait for one belong to one
// state, end with it, and are made anew for the next. undici is loaded at the first use. Next: `runtime-network.ts`, which knows when that is.

import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import type { GuestStream } from './guest-stream.js';

// Connections to one port (under one host): with the guest's ends they fit into its sockets, and the rest of the requests wait their turn.
const CONNECTIONS = 64;
// How long one is kept that nobody uses. The guest may ask for less and not for more: an open connection keeps its runtime awake.
const KEPT_MS = 4_000;

// As they are emitted by undici's agents.
const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain'];

const require = createRequire(import.meta.url);

/** See above. */
export interface PortDispatcher {
  /** What is handed out; whoever has it may end it. */
  readonly dispatcher: Dispatcher & { readonly closed: boolean; readonly destroyed: boolean };
  /** Ends what has been asked so far with `reason`. */
  renew(reason: Error): void;
}

/** Does `work` when a connection may be made into a state; rejects when that is over. */
export type Entrance = (work: () => void) => Promise<void>;

/** `enter` is called for each state. */
export function portDispatcher(port: number, connect: () => GuestStream, enter: () => Entrance): PortDispatcher {
  const undici = require('undici') as typeof import('undici');
  // Of a URL only path and query decide, and its host is what the guest reads as `host`.
  const origin = `http://localhost:${port}`;
  let agent: Agent;

  class Renewable extends undici.Dispatcher {
    get closed(): boolean {
      return agent.closed;
    }

    get destroyed(): boolean {
      return agent.destroyed;
    }

    // undici reads from them how much a WebSocket and a stream of events may bring.
    get webSocketOptions(): unknown {
      return Reflect.get(agent, 'webSocketOptions');
    }

    get eventSourceOptions(): unknown {
      return Reflect.get(agent, 'eventSourceOptions');
    }

    override dispatch(options: Agent.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
      return agent.dispatch({ ...options, origin: options.origin ?? origin }, handler);
    }

    override close(...given: unknown[]): Promise<void> {
      return Reflect.apply(agent.close, agent, given);
    }

    override destroy(...given: unknown[]): Promise<void> {
      return Reflect.apply(agent.destroy, agent, given);
    }
  }

  const dispatcher = new Renewable();
  const begin = (): Agent => {
    const within = enter();
    const begun = new undici.Agent({
      connections: CONNECTIONS,
      keepAliveTimeout: KEPT_MS,
      keepAliveMaxTimeout: KEPT_MS,
      connect: (_options, callback) => {
        const failed = (error: Error): void => callback(error, null);
        within(() => {
          const stream = connect();
          stream.once('error', failed);
          stream.once('connect', () => {
            stream.off('error', failed);
            // undici needs of a socket what every Duplex has.
            callback(null, stream as unknown as Socket);
          });
        }).catch(failed);
      },
    });
    for (const event of EVENTS) forward(event, begun, dispatcher);
    return begun;
  };
  agent = begin();
  return {
    dispatcher,
    renew(reason) {
      const before = agent;
      if (!before.closed && !before.destroyed) agent = begin();
      before.destroy(reason).catch(() => {});
    },
  };
}

function forward(event: string, from: EventEmitter, to: EventEmitter): void {
  from.on(event, (...told) => to.emit(event, ...told));
}
