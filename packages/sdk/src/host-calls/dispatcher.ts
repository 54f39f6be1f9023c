// Routes each host call to the service of its runtime and sends at most one reply.
//
// A call is abandoned when its process has ended or has aborted the call (`host.cancel`), or when
// its runtime is paused or disposed. The dispatcher aborts an abandoned call. After `host.cancel`
// the dispatcher replies immediately, because the sidecar counts the call as pending until the
// reply. A later result of the service is dropped. A service throws a `HostError` to report a
// reason. The details of any other error stay in this process. Each connection has one dispatcher.
// Next: `call-scheduler.ts`, the order of the calls; `bindings/service.ts`, a service.

import type { RuntimeId } from '../protocol/generated/messages.js';
import { CallScheduler } from './call-scheduler.js';
import { HostError } from './host-error.js';

/** One host call, for a service. */
export interface HostRequest {
  /** The pid of the calling process in its runtime. */
  readonly pid: number;
  /** The name of the called function. */
  readonly name: string;
  /** The input. The service may keep the bytes. */
  readonly input: Uint8Array;
  /** Aborts when the call is abandoned, or when the service calls `abort()`. */
  readonly signal: AbortSignal;
  /** Aborts the signal. The call is still pending until the service returns or throws. */
  abort(reason?: unknown): void;
  /**
   * Calls `listener` once when the call is abandoned, or immediately if the call was abandoned
   * before. A listener is cheaper than the signal, which is created at the first use of `signal`.
   */
  onAbandoned(listener: () => void): void;
}

/**
 * Handles host calls. Returns the reply, or a promise of the reply. If the service throws or the
 * promise rejects, the call fails in the guest.
 */
export type HostService = (request: HostRequest) => Uint8Array | Promise<Uint8Array>;

/** The message of a host call. */
export interface IncomingCall {
  readonly runtime: RuntimeId;
  readonly pid: number;
  readonly service: string;
  readonly name: string;
  readonly input: Uint8Array;
}

/** Sends a reply: the bytes, or the reason of the failure. */
export interface HostCallReplies {
  ok(runtime: RuntimeId, number: number, bytes: Uint8Array): void;
  failure(runtime: RuntimeId, number: number, code: string, message: string): void;
}

interface ServedRuntime {
  readonly services: Map<string, HostService>;
  readonly calls: Map<number, PendingCall>;
}

/** The dispatcher of one connection. */
export class HostCallDispatcher {
  readonly #runtimes = new Map<RuntimeId, ServedRuntime>();
  readonly #replies: HostCallReplies;
  readonly #scheduler: CallScheduler;
  /**
   * Calls of runtimes that have no service yet. They are stored until the function that
   * `expectRuntimes()` returned is called.
   */
  readonly #early: { number: number; incoming: IncomingCall }[] = [];
  #expected = 0;

  constructor(replies: HostCallReplies, scheduler: CallScheduler = new CallScheduler()) {
    this.#replies = replies;
    this.#scheduler = scheduler;
  }

  /** Sets the share of a runtime's calls in the time of the event loop. */
  setWeight(runtime: RuntimeId, weight: number): void {
    this.#scheduler.setWeight(runtime, weight);
  }

  /** Sets the weight of a clone to the weight of its source. */
  copyWeight(source: RuntimeId, clone: RuntimeId): void {
    this.#scheduler.setWeight(clone, this.#scheduler.weight(source));
  }

  /**
   * Registers `service` under `name` for the host calls of a runtime. Replaces an earlier service
   * of that name.
   */
  serve(runtime: RuntimeId, name: string, service: HostService): void {
    let served = this.#runtimes.get(runtime);
    if (served === undefined) {
      served = { services: new Map(), calls: new Map() };
      this.#runtimes.set(runtime, served);
    }
    served.services.set(name, service);
  }

  /**
   * Removes the services of a runtime that is disposed or being disposed, and abandons its calls.
   */
  removeRuntime(runtime: RuntimeId): void {
    this.abandonCalls(runtime);
    this.#runtimes.delete(runtime);
    this.#scheduler.remove(runtime);
  }

  /** Holds calls of unknown runtimes until the returned function is called. */
  expectRuntimes(): () => void {
    this.#expected++;
    let over = false;
    return () => {
      if (over) return;
      over = true;
      this.#expected--;
      for (const { number, incoming } of this.#early.splice(0)) this.call(number, incoming);
    };
  }

  /** Abandons the runtime's pending calls without a reply. Its services stay. */
  abandonCalls(runtime: RuntimeId): void {
    const served = this.#runtimes.get(runtime);
    const calls = [...(served?.calls.values() ?? [])];
    served?.calls.clear();
    for (const call of calls) call.abandon();
  }

  /** Removes every runtime, because the channel has closed. */
  close(): void {
    for (const runtime of [...this.#runtimes.keys()]) this.removeRuntime(runtime);
  }

  /** Passes a host call to its service, now or in the runtime's turn, and sends the reply. */
  call(number: number, incoming: IncomingCall): void {
    const { runtime, service } = incoming;
    const served = this.#runtimes.get(runtime);
    if (served === undefined && this.#expected > 0) {
      this.#early.push({ number, incoming });
      return;
    }
    const handler = served?.services.get(service);
    if (served === undefined || handler === undefined) {
      this.#replies.failure(runtime, number, 'ENOSYS', `no service is named '${service}'`);
      return;
    }
    const call = new PendingCall(incoming);
    served.calls.set(number, call);
    const done = (send: () => void): void => {
      if (served.calls.get(number) !== call) return;
      served.calls.delete(number);
      send();
    };
    const fail = (error: unknown): void => done(() => this.#refuse(runtime, number, error));
    const succeed = (bytes: Uint8Array): void =>
      done(() => {
        try {
          this.#replies.ok(runtime, number, bytes);
        } catch {
          this.#replies.failure(runtime, number, 'EMSGSIZE', 'the reply is larger than a message may be');
        }
      });
    this.#scheduler.run(runtime, () => {
      // The call may have been abandoned while it waited for its turn.
      if (served.calls.get(number) !== call) return;
      try {
        const result = handler(call);
        if (result instanceof Uint8Array) succeed(result);
        else result.then(succeed, fail);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** Abandons one call that the guest has aborted, and replies with `ECANCELED`. */
  cancel(runtime: RuntimeId, number: number): void {
    const served = this.#runtimes.get(runtime);
    const call = served?.calls.get(number);
    if (served === undefined) this.#cancelEarly(runtime, number);
    if (served === undefined || call === undefined) return;
    served.calls.delete(number);
    call.abandon();
    this.#replies.failure(runtime, number, 'ECANCELED', 'the call was abandoned');
  }

  #cancelEarly(runtime: RuntimeId, number: number): void {
    const at = this.#early.findIndex((early) => early.number === number && early.incoming.runtime === runtime);
    if (at < 0) return;
    this.#early.splice(at, 1);
    this.#replies.failure(runtime, number, 'ECANCELED', 'the call was abandoned');
  }

  #refuse(runtime: RuntimeId, number: number, error: unknown): void {
    if (error instanceof HostError) this.#replies.failure(runtime, number, error.code, error.message);
    else this.#replies.failure(runtime, number, 'EIO', 'the service failed');
  }
}

/**
 * A call whose reply has not been sent. The signal is made at its first use, because most services
 * never read `signal`.
 */
class PendingCall implements HostRequest {
  readonly pid: number;
  readonly name: string;
  readonly input: Uint8Array;
  #controller: AbortController | undefined;
  #aborted: { reason: unknown } | undefined;
  #listener: (() => void) | undefined;
  #abandoned = false;

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

  onAbandoned(listener: () => void): void {
    if (this.#abandoned) listener();
    else this.#listener = listener;
  }

  abandon(): void {
    this.#abandoned = true;
    this.#listener?.();
    this.#listener = undefined;
    this.abort();
  }
}
