// The listeners for the events of connections out of one runtime. Next:
// `sidecar/recorded-events.ts`.

import { callListener } from '../call-listener.js';
import { isColdframeError } from '../errors/error.js';
import { checkArgument } from '../options/check.js';
import { NETWORK_EVENT, type NetworkEventType } from '../options/outside.js';
import { CALLBACK } from '../options/rule.js';
import type { OutsideEvent, OutsideTaken } from '../protocol/generated/messages.js';
import { RecordedEvents } from '../sidecar/recorded-events.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import { unlessEnded } from '../sidecar/unless-ended.js';

interface AnyEvent {
  /** The time in milliseconds since 1970. */
  readonly time: number;
}

interface Peer {
  /** The protocol. Absent if a lookup was denied. */
  readonly protocol?: 'tcp' | 'udp';
  /** The name that the program has looked up. Absent if the name is not known. */
  readonly host?: string;
  /** The address of the peer. */
  readonly address?: string;
  readonly port?: number;
  /** The rule that decided, such as `deny[3]`. Absent if `outside` decided. */
  readonly rule?: string;
  /** The text of the rule, as in the options. */
  readonly pattern?: string;
}

/** A connection or a flow of datagrams was opened. */
export interface NetworkOpenEvent extends AnyEvent, Peer {
  readonly type: 'open';
}

/** A connection or a flow of datagrams was closed. */
export interface NetworkCloseEvent extends AnyEvent, Peer {
  readonly type: 'close';
  /** Bytes that the program has sent. */
  readonly sent: number;
  /** Bytes that the program has received. */
  readonly received: number;
  /** Datagrams of both directions that were dropped, for UDP. */
  readonly dropped?: number;
  /** Milliseconds between the opening and the close. */
  readonly durationMs: number;
  /** The reason of the close. Absent if both sides have ended. */
  readonly reason?: string;
}

/** A lookup or a connection was denied. */
export interface NetworkDeniedEvent extends AnyEvent, Peer {
  readonly type: 'denied';
  /** The reason, as in the program's error. */
  readonly reason: string;
}

/** A name was looked up. */
export interface NetworkDnsEvent extends AnyEvent {
  readonly type: 'dns';
  readonly host: string;
  /** The addresses. Empty if the lookup has failed. */
  readonly addresses: readonly string[];
  /** The reason of a failure. */
  readonly reason?: string;
  /** Milliseconds that the lookup took. */
  readonly durationMs?: number;
}

/** A request to a host with rules of `network.http` or with secrets was answered. */
export interface NetworkRequestEvent extends AnyEvent {
  readonly type: 'request';
  readonly method: string;
  readonly host: string;
  /** The path without the query. */
  readonly path: string;
  /** The status of the response. */
  readonly status: number;
  /** The names of the secrets whose values the request contained. */
  readonly secrets: readonly string[];
  /** The names of the secrets whose placeholder was in the request in a place without effect. */
  readonly placeholders: readonly string[];
  /** The reason of a denial. Absent if the response is the host's. */
  readonly reason?: string;
  /** The rule that denied, such as `http[0]`. */
  readonly rule?: string;
  /** The text of the rule, as in the options. */
  readonly pattern?: string;
}

/** A limit of the option `network.limits` was reached, or a limit of lookups. */
export interface NetworkLimitEvent extends AnyEvent {
  readonly type: 'limit';
  /** The name of the limit. */
  readonly limit: string;
}

/** Events were lost, because they were not delivered fast enough. */
export interface NetworkLostEvent {
  readonly type: 'lost';
  /** The number of lost events. */
  readonly count: number;
}

/** The event of each type. */
export interface NetworkEvents {
  open: NetworkOpenEvent;
  close: NetworkCloseEvent;
  denied: NetworkDeniedEvent;
  dns: NetworkDnsEvent;
  request: NetworkRequestEvent;
  limit: NetworkLimitEvent;
  lost: NetworkLostEvent;
}

interface Subscriber {
  readonly type: NetworkEventType;
  readonly listener: (event: never) => void;
}

/** The listeners of one runtime. */
export class EventListeners {
  readonly #events: RecordedEvents<Subscriber, OutsideTaken>;

  constructor({ connection, runtime }: RuntimeAccess) {
    this.#events = new RecordedEvents({
      watch: (deliver) => connection.watchOutside(runtime, deliver),
      take: async (deliver) => {
        // The edge process sends the reply after all earlier events.
        await unlessIdle(connection.request('outside.flows', { runtime }).then(() => {}));
        await unlessIdle(connection.takeOutside(runtime, deliver));
      },
      pass: passEvents,
    });
  }

  async add<T extends NetworkEventType>(type: T, listener: (event: NetworkEvents[T]) => void): Promise<() => Promise<void>> {
    checkArgument('network.on()', 'type', NETWORK_EVENT, type);
    checkArgument('network.on()', 'listener', CALLBACK, listener);
    return this.#events.add({ type, listener });
  }
}

// A paused runtime has no connections, and an edge process that has ended sends no events.
async function unlessIdle(work: Promise<void>): Promise<void> {
  try {
    await unlessEnded(work);
  } catch (error) {
    if (!isColdframeError(error, 'ERR_RUNTIME_PAUSED', 'ERR_EDGE_ENDED')) throw error;
  }
}

function passEvents({ events, lost }: OutsideTaken, subscribers: Iterable<Subscriber>): void {
  const pass = (type: NetworkEventType, event: object): void => {
    for (const subscriber of subscribers) {
      if (subscriber.type === type) callListener(() => subscriber.listener(event as never));
    }
  };
  for (const event of events) pass(event.kind, eventOf(event));
  if (lost > 0) pass('lost', { type: 'lost', count: lost });
}

function eventOf({ kind, timeUs, durationUs, ...rest }: OutsideEvent): object {
  const duration = durationUs === undefined ? {} : { durationMs: durationUs / 1_000 };
  const addresses = kind === 'dns' ? { addresses: rest.addresses ?? [] } : {};
  return { type: kind, ...rest, ...addresses, ...duration, time: timeUs / 1_000 };
}
