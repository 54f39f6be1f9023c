// The network of runtimes over frames: `stream.*` and `listener.*` of the protocol.

import { fromWire } from '../errors/make.js';
import type { Channel } from './channel.js';
import { done, listener, listeners, streamBytes, streamClosed, streamData } from './checks.js';
import type { Frame } from './frames.js';
import { Kind } from './messages.js';
import { type NetworkLink, OpenStreams } from './network-link.js';

/** Implements the network over `channel`. */
export function connectNetwork({ request, notify, nextId, onStreams }: Channel): NetworkLink {
  const streams = new OpenStreams();
  onStreams({ take: (frame) => take(streams, frame), close: (error) => streams.closeAll(error) });
  return {
    open(target, streamListener) {
      const { runtime } = target;
      const id = nextId();
      streams.add(id, streamListener);
      const opened = request(Kind.streamOpen, id, target, done);
      opened.catch(() => streams.remove(id));
      return {
        opened,
        write: (data) => notify(Kind.streamData, id, { runtime, data }),
        end: () => notify(Kind.streamEnd, id, { runtime }),
        credit: (bytes) => notify(Kind.streamCredit, id, { runtime, bytes }),
        close(reset) {
          streams.remove(id);
          notify(Kind.streamClose, id, { runtime, reset: reset || undefined });
        },
      };
    },
    listeners: (target) => request(Kind.listenerList, nextId(), target, listeners),
    wait(target) {
      const id = nextId();
      const answer = request(Kind.listenerWait, id, target, listener);
      return { answer, cancel: () => notify(Kind.listenerCancel, id, { runtime: target.runtime }) };
    },
  };
}

// Checks every body, also of a closed connection.
function take(streams: OpenStreams, { kind, id, body }: Frame): void {
  if (kind === Kind.streamData) {
    const { data } = streamData(body);
    // Copied, because `data` is a view of the socket's buffer and the listener may keep it.
    streams.get(id)?.data(new Uint8Array(data));
  } else if (kind === Kind.streamCredit) {
    streams.get(id)?.credit(streamBytes(body).bytes);
  } else if (kind === Kind.streamEnd) {
    streams.get(id)?.ended();
  } else {
    const { failure } = streamClosed(body);
    streams.close(id, failure && fromWire(failure.code, failure.message, failure.details));
  }
}
