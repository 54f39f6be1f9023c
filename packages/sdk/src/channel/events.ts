// The messages that belong to no pending request, and the notification for each message.
//
// A body is checked before the subscriber is notified. The bytes in a body are a view of the
// transport's buffer. The bytes are copied, because the subscriber may keep them. Next:
// `channel.ts`.

import { fromWire } from '../errors/make.js';
import {
  credit,
  hostCall,
  hostCancel,
  inNetwork,
  inRuntime,
  limitWarning,
  outsidePending,
  permissionsPending,
  streamClosed,
  streamData,
} from '../protocol/generated/decoders.js';
import type { HostCall, LimitWarning, NetworkId, RequestId, RuntimeId } from '../protocol/generated/messages.js';
import { EVENTS } from '../protocol/generated/tables.js';

/** Receives the messages that belong to no pending request. Does not throw. */
export interface EventSubscriber {
  /** A program calls a service. The subscriber may keep the input. */
  hostCall(number: number, call: HostCall): void;
  /** A program has aborted the host call `number`. */
  hostCancel(number: number, runtime: RuntimeId): void;
  limitWarning(warning: LimitWarning): void;
  /** The sidecar holds permission decisions of the runtime. */
  permissionsPending(runtime: RuntimeId): void;
  /** The edge process needs the values of the runtime's secrets. */
  secretsWanted(runtime: RuntimeId): void;
  /** The sidecar holds events of connections out of the runtime. */
  outsidePending(runtime: RuntimeId): void;
  /** The sidecar holds events of the private network. */
  networkPending(network: NetworkId): void;
  /**
   * The guest has written bytes, which the subscriber may keep. `id`: the id of the request
   * `stream.open`.
   */
  streamData(id: RequestId, bytes: Uint8Array): void;
  streamCredit(id: RequestId, bytes: number): void;
  streamEnd(id: RequestId): void;
  streamClose(id: RequestId, error: Error | undefined): void;
  /** The channel has closed. */
  closed(error: Error): void;
}

/** Checks the body of one message and passes the message on. Throws for an invalid body. */
type Notify = (subscriber: EventSubscriber, id: number, body: unknown) => void;

/** The functions that notify the subscriber, by the kind of the message. */
export const SUBSCRIBER_EVENTS: ReadonlyMap<number, Notify> = new Map<number, Notify>([
  [
    EVENTS['host.call'],
    (subscriber, number, body) => {
      const call = hostCall(body, 'host.call');
      subscriber.hostCall(number, { ...call, input: new Uint8Array(call.input) });
    },
  ],
  [EVENTS['host.cancel'], (subscriber, number, body) => subscriber.hostCancel(number, hostCancel(body, 'host.cancel').runtime)],
  [EVENTS['limit.warning'], (subscriber, _, body) => subscriber.limitWarning(limitWarning(body, 'limit.warning'))],
  [
    EVENTS['permissions.pending'],
    (subscriber, _, body) => subscriber.permissionsPending(permissionsPending(body, 'permissions.pending').runtime),
  ],
  [
    EVENTS['outside.pending'],
    (subscriber, _, body) => subscriber.outsidePending(outsidePending(body, 'outside.pending').runtime),
  ],
  [EVENTS['network.pending'], (subscriber, _, body) => subscriber.networkPending(inNetwork(body, 'network.pending').network)],
  [EVENTS['secrets.wanted'], (subscriber, _, body) => subscriber.secretsWanted(inRuntime(body, 'secrets.wanted').runtime)],
  [
    EVENTS['stream.data'],
    (subscriber, id, body) => subscriber.streamData(id as RequestId, new Uint8Array(streamData(body, 'stream.data').data)),
  ],
  [
    EVENTS['stream.credit'],
    (subscriber, id, body) => subscriber.streamCredit(id as RequestId, credit(body, 'stream.credit').bytes),
  ],
  [EVENTS['stream.end'], (subscriber, id) => subscriber.streamEnd(id as RequestId)],
  [
    EVENTS['stream.close'],
    (subscriber, id, body) => {
      const reason = streamClosed(body, 'stream.close').failure;
      subscriber.streamClose(id as RequestId, reason && fromWire(reason.code, reason.message, reason.details));
    },
  ],
]);
