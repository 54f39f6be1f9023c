// Sends events to the URLs of a tenant. A delivery is repeated with growing delays. Each URL has a
// bounded queue, so that a slow receiver costs bounded memory and no other receiver waits.
//
// The signature is the HMAC-SHA-256 of the time, a full stop and the body.

import { createHmac, randomUUID } from 'node:crypto';
import type { WebhookRecord } from '../registry/records.js';
import type { NamedStore } from '../registry/registry.js';
import type { Destinations } from './destination.js';

/** The result of an attempt to deliver an event. */
export interface Delivery {
  id: string;
  webhookId: string;
  eventId: string;
  type: string;
  attempt: number;
  /** The status of the response, or `undefined` without a response. */
  status: number | undefined;
  error: string | undefined;
  /** Milliseconds since 1970. */
  at: number;
}

/** The options of deliveries. */
export interface WebhookOptions {
  /** Attempts for one event. */
  attempts: number;
  /** Milliseconds until the second attempt. Each later delay is twice as long. */
  firstDelayMs: number;
  /** Milliseconds until a response must have arrived. */
  timeoutMs: number;
}

const MOST_WAITING = 1_000;
const KEPT_DELIVERIES = 100;
const LONGEST_DELAY_MS = 300_000;

interface Waiting {
  id: string;
  type: string;
  body: string;
}

interface Queue {
  waiting: Waiting[];
  deliveries: Delivery[];
  isSending: boolean;
}

/** The webhooks of all tenants. */
export class Webhooks {
  readonly #store: NamedStore<WebhookRecord>;
  readonly #destinations: Destinations;
  readonly #options: WebhookOptions;
  readonly #queues = new Map<string, Queue>();
  readonly #closed = new AbortController();

  constructor(store: NamedStore<WebhookRecord>, destinations: Destinations, options: WebhookOptions) {
    this.#store = store;
    this.#destinations = destinations;
    this.#options = options;
  }

  /** Sends an event to the tenant's webhooks. Returns at once. */
  send(tenant: string, type: string, event: { id: string }): void {
    for (const hook of this.#store.list(tenant)) {
      if (!hook.enabled || (hook.events.length > 0 && !hook.events.includes(type))) continue;
      const queue = this.#queueOf(hook.id);
      // The oldest event is dropped, because the newest state matters most to a receiver.
      if (queue.waiting.length >= MOST_WAITING) queue.waiting.shift();
      queue.waiting.push({ id: event.id, type, body: JSON.stringify(event) });
      if (!queue.isSending) void this.#drain(hook.id, queue);
    }
  }

  /** Returns the newest deliveries of a webhook, the newest first. */
  deliveries(id: string): Delivery[] {
    return [...(this.#queues.get(id)?.deliveries ?? [])].reverse();
  }

  /** Forgets a removed webhook. */
  forget(id: string): void {
    this.#queues.delete(id);
  }

  /** Ends all deliveries. */
  close(): void {
    this.#closed.abort();
  }

  #queueOf(id: string): Queue {
    const known = this.#queues.get(id);
    if (known !== undefined) return known;
    const queue: Queue = { waiting: [], deliveries: [], isSending: false };
    this.#queues.set(id, queue);
    return queue;
  }

  async #drain(id: string, queue: Queue): Promise<void> {
    queue.isSending = true;
    for (let next = queue.waiting.shift(); next !== undefined; next = queue.waiting.shift()) {
      await this.#deliver(id, queue, next);
      if (this.#closed.signal.aborted) break;
    }
    queue.isSending = false;
  }

  async #deliver(id: string, queue: Queue, { id: eventId, type, body }: Waiting): Promise<void> {
    for (let attempt = 1; attempt <= this.#options.attempts; attempt++) {
      // The webhook may have been changed or removed since.
      const hook = this.#store.get(id);
      if (hook === undefined || !hook.enabled || this.#closed.signal.aborted) return;
      const delivery = { id: randomUUID(), webhookId: id, eventId, type, attempt, at: Date.now() };
      const { status, error } = await this.#post(hook, delivery.id, body);
      queue.deliveries.push({ ...delivery, status, error });
      if (queue.deliveries.length > KEPT_DELIVERIES) queue.deliveries.shift();
      if (status !== undefined && status >= 200 && status < 300) return;
      if (attempt < this.#options.attempts) {
        await this.#rest(Math.min(LONGEST_DELAY_MS, this.#options.firstDelayMs * 2 ** (attempt - 1)));
      }
    }
  }

  async #post(hook: WebhookRecord, deliveryId: string, body: string): Promise<{ status?: number; error?: string }> {
    const time = String(Date.now());
    const headers = {
      'content-type': 'application/json',
      'e2b-webhook-id': hook.id,
      'e2b-delivery-id': deliveryId,
      'e2b-signature-timestamp': time,
      'e2b-signature': signatureOf(hook.secret, time, body),
    };
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(this.#options.timeoutMs), this.#closed.signal]);
      return { status: await this.#destinations.post(hook.url, { headers, body, signal }) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#closed.signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}

/** Returns the signature of a body that is sent at `time`. */
export const signatureOf = (secret: string, time: string, body: string): string =>
  createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
