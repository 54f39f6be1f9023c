// A dispatcher of undici for a guest's port. The dispatcher outlives the states of its runtime. Its
// connections, and the requests that wait for a connection, belong to one state and end with that
// state. New connections are made for the next state. undici is loaded at the first use. Next:
// `runtime-network.ts`, which starts a new state.

import type { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import type { GuestStream } from './guest-stream.js';

/**
 * Connections to one port under one host. Together with the guest's ends they fit into the
 * runtime's limit of sockets. Further requests wait.
 */
const CONNECTIONS = 64;
/**
 * Milliseconds that an unused connection is kept. The guest may ask for less, but not for more: an
 * open connection prevents the pause of its runtime.
 */
const KEEP_ALIVE_MS = 4_000;

/** The events of undici's agents. */
const EVENTS = ['connect', 'disconnect', 'connectionError', 'drain'];

const require = createRequire(import.meta.url);

/** A dispatcher, and the change to another state. */
export interface PortDispatcher {
  /** The dispatcher for the app, which may end it. */
  readonly dispatcher: Dispatcher & { readonly closed: boolean; readonly destroyed: boolean };
  /** Ends all requests so far with `reason`. */
  renew(reason: Error): void;
}

/** Runs `work` when a connection into a state may be made. Rejects if the state has ended. */
export type WithinState = (work: () => void) => Promise<void>;

/** Makes a dispatcher. `enter` is called for each state. */
export function portDispatcher(port: number, connect: () => GuestStream, enter: () => WithinState): PortDispatcher {
  const undici = require('undici') as typeof import('undici');
  // Only path and query of a URL count. The guest reads this host in the header `host`.
  const origin = `http://localhost:${port}`;
  let agent: Agent;

  class RenewableDispatcher extends undici.Dispatcher {
    get closed(): boolean {
      return agent.closed;
    }

    get destroyed(): boolean {
      return agent.destroyed;
    }

    // undici reads the bounds of WebSockets and event streams from these.
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
            // undici uses only what every Duplex has.
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

function forward(event: string, from: EventEmitter, to: EventEmitter): void {
  from.on(event, (...args) => to.emit(event, ...args));
}
