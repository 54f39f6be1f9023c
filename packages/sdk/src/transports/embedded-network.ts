// The network of runtimes over the addon.

import type { WireError, WireListener } from '../channel/messages.js';
import { type NetworkLink, OpenStreams } from '../channel/network-link.js';
import { type Deferred, deferred } from '../deferred.js';
import { fromWire } from '../errors/make.js';
import { type AddonCore, Event } from './addon.js';

/** The addon, as its connection provides it: ids, and calls with translated errors. */
export interface AddonAccess {
  nextId(): number;
  call<T>(work: (core: AddonCore) => T): T;
  /** Sends a message without a result. Does nothing if the core has ended. */
  notify(work: (core: AddonCore) => void): void;
}

/** The network of an embedded sidecar. */
export class EmbeddedNetwork implements NetworkLink {
  readonly #access: AddonAccess;
  readonly #streams = new OpenStreams();
  readonly #waits = new Map<number, Deferred<WireListener>>();

  constructor(access: AddonAccess) {
    this.#access = access;
  }

  open: NetworkLink['open'] = ({ runtime, port, host, path }, listener) => {
    const { nextId, call, notify } = this.#access;
    const id = nextId();
    this.#streams.add(id, listener);
    const opened = (async () => call((core) => core.openStream(id, runtime, port, host, path)))();
    opened.catch(() => this.#streams.remove(id));
    return {
      opened,
      write: (data) => notify((core) => core.writeStream(id, runtime, data)),
      end: () => notify((core) => core.endStream(id, runtime)),
      credit: (bytes) => notify((core) => core.creditStream(id, runtime, bytes)),
      close: (reset) => {
        this.#streams.remove(id);
        notify((core) => core.closeStream(id, runtime, reset));
      },
    };
  };

  listeners: NetworkLink['listeners'] = async ({ runtime, port, host, path }) => {
    const all = port === undefined && path === undefined;
    return this.#access.call((core) => core.listListeners(all, runtime, port, host, path));
  };

  wait: NetworkLink['wait'] = ({ runtime, port, host, path }) => {
    const { nextId, call, notify } = this.#access;
    const id = nextId();
    const answer = deferred<WireListener>();
    this.#waits.set(id, answer);
    try {
      call((core) => core.awaitListener(id, runtime, port, host, path));
    } catch (error) {
      this.#waits.delete(id);
      answer.reject(error as Error);
    }
    return { answer: answer.promise, cancel: () => notify((core) => core.stopWaiting(id, runtime)) };
  };

  /** Takes an event of a connection or a wait. Returns false for any other event. */
  take(id: number, kind: number, payload: unknown): boolean {
    if (kind === Event.streamData) this.#streams.get(id)?.data(payload as Uint8Array);
    else if (kind === Event.streamCredit) this.#streams.get(id)?.credit(payload as number);
    else if (kind === Event.streamEnded) this.#streams.get(id)?.ended();
    else if (kind === Event.streamClosed) this.#streams.close(id, payload === undefined ? undefined : error(payload));
    else if (kind === Event.listener) this.#answer(id)?.resolve(payload as WireListener);
    else if (kind === Event.noListener) this.#answer(id)?.reject(error(payload));
    else return false;
    return true;
  }

  /** Ends all connections and waits, because the core has ended. */
  close(reason: Error): void {
    this.#streams.closeAll(reason);
    for (const id of [...this.#waits.keys()]) this.#answer(id)?.reject(reason);
  }

  #answer(id: number): Deferred<WireListener> | undefined {
    const answer = this.#waits.get(id);
    this.#waits.delete(id);
    return answer;
  }
}

function error(payload: unknown): Error {
  const { code, message, details } = payload as WireError;
  return fromWire(code, message, details);
}
