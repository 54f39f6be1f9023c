// The subscribers for events that the sidecar records only while a subscriber exists: decisions of
// permissions, and events of connections out of a runtime. All subscribers share one queue in the
// sidecar. The end of a subscription first takes the events that the sidecar holds.

import { isColdframeError } from '../errors/error.js';
import { unlessEnded } from './unless-ended.js';

type Deliver<Batch> = (batch: Batch) => void;

/** The requests and the delivery of one kind of events. */
export interface RecordedKind<Subscriber, Batch> {
  /** Starts the recording, with the receiver of batches. Without a receiver, ends the recording. */
  watch(deliver: Deliver<Batch> | undefined): Promise<void>;
  /** Delivers all events that were made so far. */
  take(deliver: Deliver<Batch>): Promise<void>;
  /** Passes a batch to the subscribers. */
  pass(batch: Batch, subscribers: Iterable<Subscriber>): void;
}

/** The subscribers for one kind of events of one runtime. */
export class RecordedEvents<Subscriber, Batch> {
  readonly #kind: RecordedKind<Subscriber, Batch>;
  readonly #subscribers = new Set<Subscriber>();
  /**
   * The end of the last request. The next request is sent after that end, so that the last request
   * takes effect last.
   */
  #lastRequest: Promise<void> = Promise.resolve();
  #isWatched = false;

  constructor(kind: RecordedKind<Subscriber, Batch>) {
    this.#kind = kind;
  }

  /**
   * Adds a subscriber, and resolves when later events are recorded. Returns a function that removes
   * the subscriber after the delivery of all events so far.
   */
  async add(subscriber: Subscriber): Promise<() => Promise<void>> {
    // After the last `stop()` of a paused runtime, the recording has not ended yet.
    if (this.#subscribers.size === 0) await this.#updateWatch();
    this.#subscribers.add(subscriber);
    try {
      await this.#updateWatch();
    } catch (error) {
      this.#subscribers.delete(subscriber);
      throw error;
    }
    let stopped: Promise<void> | undefined;
    return () => {
      stopped ??= this.#stop(subscriber);
      return stopped;
    };
  }

  // Without a runtime there are no events to deliver.
  async #stop(subscriber: Subscriber): Promise<void> {
    try {
      await unlessEnded(this.#kind.take(this.#deliver));
    } finally {
      this.#subscribers.delete(subscriber);
    }
    await unlessEnded(this.#updateWatch()).catch((error: unknown) => {
      // A paused runtime makes no events. `#deliver` ends the watch after the resumption.
      if (!isColdframeError(error, 'ERR_RUNTIME_PAUSED')) throw error;
    });
  }

  // Starts the recording if a subscriber exists when the request is sent, else ends the recording.
  #updateWatch(): Promise<void> {
    const update = async (): Promise<void> => {
      const isWanted = this.#subscribers.size > 0;
      if (isWanted === this.#isWatched) return;
      await this.#kind.watch(isWanted ? this.#deliver : undefined);
      this.#isWatched = isWanted;
    };
    const updated = this.#lastRequest.then(update);
    this.#lastRequest = updated.catch(() => {});
    return updated;
  }

  readonly #deliver = (batch: Batch): void => {
    if (this.#subscribers.size === 0) this.#updateWatch().catch(() => {});
    this.#kind.pass(batch, this.#subscribers);
  };
}
