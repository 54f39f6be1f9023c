// What sandboxes ask of this side: each call goes to the service of its runtime that is meant, and is answered once.
//
// A call that nobody waits for any more (its process has ended, its runtime is gone) is aborted and answered at once: the sidecar counts it as
// under way until then. What its service still gives is dropped. A service throws a `HostError` to say why; of any other error nothing leaves
// this process. Both transports have a desk; next: `bindings/service.ts`, a service.

import { HostError } from './host-error.js';

/** One call of a service. */
export interface HostRequest {
  /** The process that asks, by its number in its runtime. */
  readonly pid: number;
  /** What is called. */
  readonly name: string;
  /** What it is given; the service's to keep. */
  readonly input: Uint8Array;
  /** Aborted when nobody waits for the answer any more, or the service has said so. */
  readonly signal: AbortSignal;
  /** Aborts the signal; the call still waits for its answer. */
  abort(reason?: unknown): void;
  /** Has `listener` called once when nobody waits any more, at once if that is so already: cheaper than the signal, which has to be made. */
  onGivenUp(listener: () => void): void;
}

/** Answers calls. What it throws, or rejects with, is the call's failure. */
export type HostService = (request: HostRequest) => Uint8Array | Promise<Uint8Array>;

/** A call as it comes from the sidecar. */
export interface IncomingCall {
  readonly runtime: number;
  readonly pid: number;
  readonly service: string;
  readonly name: string;
  readonly input: Uint8Array;
}

/** Sends an answer: the bytes, or why there are none. */
export interface Answers {
  ok(runtime: number, number: number, bytes: Uint8Array): void;
  failure(runtime: number, number: number, code: string, message: string): void;
}

interface Runtime {
  readonly services: Map<string, HostService>;
  readonly calls: Map<number, Call>;
}

/** See above. */
export class HostDesk {
  readonly #runtimes = new Map<number, Runtime>();
  readonly #answers: Answers;
  // Calls of runtimes that nobody serves yet, while some are expected.
  readonly #early: { number: number; incoming: IncomingCall }[] = [];
  #expected = 0;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  /** From now on `service` answers a runtime's calls of that name; it takes the place of the one before. */
  serve(runtime: number, name: string, service: HostService): void {
    let entry = this.#runtimes.get(runtime);
    if (entry === undefined) {
      entry = { services: new Map(), calls: new Map() };
      this.#runtimes.set(runtime, entry);
    }
    entry.services.set(name, service);
  }

  /** The runtime is gone, or will be in a moment. */
  leave(runtime: number): void {
    this.drop(runtime);
    this.#runtimes.delete(runtime);
  }

  /** Programs of runtimes that are not known yet may ask: that waits until the function is called. */
  expect(): () => void {
    this.#expected++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#expected--;
      for (const { number, incoming } of this.#early.splice(0)) this.call(number, incoming);
    };
  }

  /** What the runtime has asked so far is not answered any more; its services stay. */
  drop(runtime: number): void {
    const entry = this.#runtimes.get(runtime);
    const calls = [...(entry?.calls.values() ?? [])];
    entry?.calls.clear();
    for (const call of calls) call.giveUp();
  }

  /** The sidecar is gone. */
  close(): void {
    for (const runtime of [...this.#runtimes.keys()]) this.leave(runtime);
  }

  /** A call has come. */
  call(number: number, incoming: IncomingCall): void {
    const { runtime, service } = incoming;
    const entry = this.#runtimes.get(runtime);
    if (entry === undefined && this.#expected > 0) {
      this.#early.push({ number, incoming });
      return;
    }
    const handler = entry?.services.get(service);
    if (entry === undefined || handler === undefined) {
      this.#answers.failure(runtime, number, 'ENOSYS', `nobody serves '${service}' here`);
      return;
    }
    const call = new Call(incoming);
    entry.calls.set(number, call);
    const done = (send: () => void): void => {
      if (entry.calls.get(number) !== call) return;
      entry.calls.delete(number);
      send();
    };
    const fail = (error: unknown): void => done(() => this.#refuse(runtime, number, error));
    const succeed = (bytes: Uint8Array): void =>
      done(() => {
        try {
          this.#answers.ok(runtime, number, bytes);
        } catch {
          this.#answers.failure(runtime, number, 'EMSGSIZE', 'the answer is larger than a message may be');
        }
      });
    try {
      const answer = handler(call);
      if (answer instanceof Uint8Array) succeed(answer);
      else answer.then(succeed, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Nobody waits for the call any more. */
  cancel(runtime: number, number: number): void {
    const entry = this.#runtimes.get(runtime);
    const call = entry?.calls.get(number);
    if (entry === undefined) this.#forget(runtime, number);
    if (entry === undefined || call === undefined) return;
    entry.calls.delete(number);
    call.giveUp();
    this.#answers.failure(runtime, number, 'ECANCELED', 'nobody waits for it any more');
  }

  #forget(runtime: number, number: number): void {
    const at = this.#early.findIndex((early) => early.number === number && early.incoming.runtime === runtime);
    if (at < 0) return;
    this.#early.splice(at, 1);
    this.#answers.failure(runtime, number, 'ECANCELED', 'nobody waits for it any more');
  }

  #refuse(runtime: number, number: number, error: unknown): void {
    if (error instanceof HostError) this.#answers.failure(runtime, number, error.code, error.message);
    else this.#answers.failure(runtime, number, 'EIO', 'the host failed');
  }
}

// The signal is made when somebody looks at it: most services never do.
class Call implements HostRequest {
  readonly pid: number;
  readonly name: string;
  readonly input: Uint8Array;
  #controller: AbortController | undefined;
  #aborted: { reason: unknown } | undefined;
  #listener: (() => void) | undefined;
  #givenUp = false;

  constructor({ pid, name, input }: IncomingCall) {
    this.pid = pid;
    this.name = name;
    this.input = input;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
    }
    return this.#controller.signal;
  }

  abort(reason?: unknown): void {
    this.#aborted ??= { reason };
    this.#controller?.abort(reason);
  }

  onGivenUp(listener: () => void): void {
    if (this.#givenUp) listener();
    else this.#listener = listener;
  }

  giveUp(): void {
    this.#givenUp = true;
    this.#listener?.();
    this.#listener = undefined;
    this.abort();
  }
}
