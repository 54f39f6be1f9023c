// The network of runtimes over frames: `stream.*` and `listener.*` of the protocol.

import { fromWire } from '../errors/make.js';
import { type NetworkLink, StreamDesk } from '../network/link.js';
import type { Channel } from './channel.js';
import { done, listener, listeners, streamBytes, streamClosed, streamData } from './checks.js';
import type { Frame } from './frames.js';
import { Kind } from './messages.js';

/** Uses `channel` for it; what comes from the sidecar goes to the connections that it is about. */
export function connectNetwork({ request, notify, nextId, onStreams }: Channel): NetworkLink {
  const desk = new StreamDesk();
  onStreams({ take: (frame) => take(desk, frame), close: (error) => desk.closeAll(error) });
  return {
    open(target, streamListener) {
      const { runtime } = target;
      const id = nextId();
      desk.add(id, streamListener);
      const opened = request(Kind.streamOpen, id, target, done);
      opened.catch(() => desk.remove(id));
      return {
        opened,
        write: (data) => notify(Kind.streamData, id, { runtime, data }),
        end: () => notify(Kind.streamEnd, id, { runtime }),
        credit: (bytes) => notify(Kind.streamCredit, id, { runtime, bytes }),
        close(reset) {
          desk.remove(id);
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

// Every body is checked, also that of a connection that is gone.
function take(desk: StreamDesk, { kind, id, body }: Frame): void {
  if (kind === Kind.streamData) {
    const { data } = streamData(body);
    // A view of what was read from the socket; who listens keeps what it gets.
    desk.get(id)?.data(new Uint8Array(data));
  } else if (kind === Kind.streamCredit) {
    desk.get(id)?.credit(streamBytes(body).bytes);
  } else if (kind === Kind.streamEnd) {
    desk.get(id)?.ended();
  } else {
    const { failure } = streamClosed(body);
    desk.close(id, failure && fromWire(failure.code, failure.message, failure.details));
  }
}
