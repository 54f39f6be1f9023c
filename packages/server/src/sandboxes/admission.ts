// Decides whether this server accepts further sandboxes. The operator can cordon a server, a server
// that is about to end drains, and a server without space is full. Clients
// then ask another server.

import { freemem } from 'node:os';
import { SandboxFailure } from './failure.js';

/** The bounds of the server. */
export interface Capacity {
  /** Sandboxes at a time, with frozen and lately paused sandboxes. */
  sandboxes: number;
  /** Bytes of the machine's memory that must be available for a further sandbox. */
  reserveBytes: number;
}

/** The states of a server. */
export type NodeState = 'ready' | 'cordoned' | 'draining';

/** Milliseconds for which the available memory is not read again. */
const MEMORY_MS = 100;

/** The admission of sandboxes. */
export class Admission {
  readonly capacity: Capacity;
  readonly #readMemory: () => number;
  #state: NodeState = 'ready';
  #memory = { bytes: 0, until: 0 };

  constructor(capacity: Capacity, readMemory = freemem) {
    this.capacity = capacity;
    this.#readMemory = readMemory;
  }

  /** The state. A server that drains never becomes ready. */
  get state(): NodeState {
    return this.#state;
  }

  /** Refuses new sandboxes, or accepts them again. Running sandboxes continue. */
  setCordon(isCordoned: boolean): void {
    if (this.#state !== 'draining') this.#state = isCordoned ? 'cordoned' : 'ready';
  }

  /** Refuses new sandboxes until the server ends. */
  drain(): void {
    this.#state = 'draining';
  }

  /** Bytes of the machine's memory that programs can get. */
  get availableBytes(): number {
    const now = performance.now();
    if (now >= this.#memory.until) this.#memory = { bytes: this.#readMemory(), until: now + MEMORY_MS };
    return this.#memory.bytes;
  }

  /** Returns the reason why the server is full beside `count` sandboxes, or `undefined`. */
  fullReason(count: number): string | undefined {
    const { sandboxes, reserveBytes } = this.capacity;
    if (count >= sandboxes) return `the server has ${sandboxes} sandboxes`;
    const isShort = reserveBytes > 0 && this.availableBytes < reserveBytes;
    return isShort ? `the machine has less than ${reserveBytes} bytes of available memory` : undefined;
  }

  /** Fails if the server accepts no further sandbox beside `count` sandboxes. */
  check(count: number): void {
    if (this.#state === 'draining') throw new SandboxFailure('draining', 'The server is about to end');
    if (this.#state === 'cordoned') throw new SandboxFailure('cordoned', 'The server accepts no new sandboxes');
    const reason = this.fullReason(count);
    if (reason !== undefined) throw new SandboxFailure('full', `The server is full: ${reason}`);
  }
}
