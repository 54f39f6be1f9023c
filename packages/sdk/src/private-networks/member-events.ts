// The listeners for the events of one private network. Next: `sidecar/recorded-events.ts`.

import { callListener } from '../call-listener.js';
import { isColdframeError } from '../errors/error.js';
import { checkArgument } from '../options/check.js';
import { MEMBER_EVENT, type MemberEventType } from '../options/private-network.js';
import { CALLBACK } from '../options/rule.js';
import type { NetworkLostEvent } from '../outside/event-listeners.js';
import type { NetworkMemberEvent, NetworkTaken } from '../protocol/generated/messages.js';
import { RecordedEvents } from '../sidecar/recorded-events.js';
import type { NetworkEntry } from './handles.js';

interface AnyMemberEvent {
  /** The time in milliseconds since 1970. */
  readonly time: number;
  /** The name of the connecting member. */
  readonly from: string;
  /** The name of the listening member. */
  readonly to: string;
  /** The port of the listener. */
  readonly port: number;
}

/** The listener has a connection. */
export interface MemberOpenEvent extends AnyMemberEvent {
  readonly type: 'open';
}

/** A connection was closed. */
export interface MemberCloseEvent extends AnyMemberEvent {
  readonly type: 'close';
  /** Bytes that the connecting member has sent. */
  readonly sent: number;
  /** Bytes that the listening member has sent. */
  readonly received: number;
  /** Milliseconds between the connect and the close. */
  readonly durationMs: number;
  /**
   * `'reset'`: a program has reset the connection. `'denied'`: new rules do not allow it. `'left'`:
   * a membership has ended. Absent if a program has closed its socket.
   */
  readonly reason?: 'reset' | 'denied' | 'left';
}

/** The rules have not allowed a connection or a datagram. */
export interface MemberDeniedEvent extends AnyMemberEvent {
  readonly type: 'denied';
  /** The reason, as in the program's error. */
  readonly reason: 'not-allowed';
}

/** The event of each type. */
export interface MemberEvents {
  open: MemberOpenEvent;
  close: MemberCloseEvent;
  denied: MemberDeniedEvent;
  lost: NetworkLostEvent;
}

interface Subscriber {
  readonly type: MemberEventType;
  readonly listener: (event: never) => void;
}

/** The listeners of one network. */
export class MemberListeners {
  readonly #events: RecordedEvents<Subscriber, NetworkTaken>;

  /** `isDisposed` returns whether the network was disposed, and has no further events. */
  constructor({ connection, network }: NetworkEntry, isDisposed: () => boolean) {
    const unlessDisposed = async (work: Promise<void>): Promise<void> => {
      try {
        await work;
      } catch (error) {
        if (!isDisposed() || !isColdframeError(error, 'ERR_INVALID_REQUEST')) throw error;
      }
    };
    this.#events = new RecordedEvents({
      watch: (deliver) => {
        const watched = connection.watchMembers(network, deliver);
        return deliver === undefined ? unlessDisposed(watched) : watched;
      },
      take: (deliver) => unlessDisposed(connection.takeMembers(network, deliver)),
      pass: passEvents,
    });
  }

  async add<T extends MemberEventType>(type: T, listener: (event: MemberEvents[T]) => void): Promise<() => Promise<void>> {
    checkArgument('network.on()', 'type', MEMBER_EVENT, type);
    checkArgument('network.on()', 'listener', CALLBACK, listener);
    return this.#events.add({ type, listener });
  }
}

function passEvents({ events, lost }: NetworkTaken, subscribers: Iterable<Subscriber>): void {
  const pass = (type: MemberEventType, event: object): void => {
    for (const subscriber of subscribers) {
      if (subscriber.type === type) callListener(() => subscriber.listener(event as never));
    }
  };
  for (const event of events) pass(event.kind, eventOf(event));
  if (lost > 0) pass('lost', { type: 'lost', count: lost });
}

function eventOf({ kind, timeUs, durationUs, ...rest }: NetworkMemberEvent): object {
  const duration = durationUs === undefined ? {} : { durationMs: durationUs / 1_000 };
  return { type: kind, ...rest, ...duration, time: timeUs / 1_000 };
}
