// The connection of a runtime with an idle policy. Every request first resumes a paused runtime and
// keeps the runtime running until the reply. A wrapper covers every call, including future calls,
// and runtimes without a policy pay nothing. Next: `resuming-files.ts`.

import type { NetworkLink, OpenStream, StreamListener } from '../channel/network-link.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { SnapshotLink } from '../channel/snapshots.js';
import type { IdlePolicy } from './policy.js';
import { ResumingFiles } from './resuming-files.js';

/** Calls that are no use of the runtime, or that belong to a request that is pending already. */
const DIRECT_CALLS: ReadonlySet<PropertyKey> = new Set<keyof SidecarConnection | string>([
  'pid',
  'nextId',
  'credit',
  'ping',
  'resources',
  'dispose',
  'disposeRuntime',
  'createRuntime',
  'isOver',
  'expectCalls',
  'dropCalls',
  // A resumption sends the bindings again.
  'setBindings',
]);

/** Wraps `connection`. */
export function resumingConnection<C extends SidecarConnection>(connection: C, policy: IdlePolicy): C {
  /** Programs that wait for the resumption. */
  const waiting = new Set<number>();
  /** Programs that were cancelled while they waited. */
  const cancelled = new Set<number>();
  const during = <T>(work: () => T): T | Promise<Awaited<T>> => policy.during(work);
  const begin = (id: number, work: () => unknown): unknown => {
    if (policy.ready() === undefined) return during(work);
    waiting.add(id);
    const outcome = during(() => {
      waiting.delete(id);
      const started = work();
      if (cancelled.delete(id)) connection.cancel(id);
      return started;
    });
    const forget = (): void => {
      waiting.delete(id);
      cancelled.delete(id);
    };
    Promise.resolve(outcome).then(forget, forget);
    return outcome;
  };
  const cancel = (id: number): void => {
    if (waiting.has(id)) cancelled.add(id);
    else connection.cancel(id);
  };
  // The runtime stays running until a host call is answered. A pause would reject the call.
  const serve: SidecarConnection['serve'] = (runtime, name, service) =>
    connection.serve(runtime, name, (request) => {
      const done = policy.use();
      try {
        const result = service(request);
        if (result instanceof Uint8Array) done();
        else result.then(done, done);
        return result;
      } catch (error) {
        done();
        throw error;
      }
    });
  const network = resumingNetwork(connection.network, policy);
  const files = new ResumingFiles(connection.opened, policy);
  const snapshots: SnapshotLink = {
    ...connection.snapshots,
    take: async (take) => during(() => connection.snapshots.take(take)),
    rollback: async (rollback) => {
      const releaseFiles = files.releaseOpenSoFar();
      const restored = await during(() => connection.snapshots.rollback(rollback));
      releaseFiles();
      return restored;
    },
    // The app or the policy asks for the pause, so the runtime need not be resumed.
    pause: async (pause) => {
      const snapshot = await connection.snapshots.pause(pause);
      files.releaseOpenSoFar()();
      return snapshot;
    },
    clone: async (clone, onWarning) => during(() => connection.snapshots.clone(clone, onWarning)),
    attach: async (id, attach, onOutput, onStarted) =>
      (await begin(id, () => connection.snapshots.attach(id, attach, onOutput, onStarted))) as Outcome,
  };
  return new Proxy(connection, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'network') return network;
      if (name === 'opened') return files.opened;
      if (name === 'snapshots') return snapshots;
      if (name === 'cancel') return cancel;
      if (name === 'serve') return serve;
      if (typeof value !== 'function') return value;
      const call = (args: unknown[]): unknown => Reflect.apply(value, target, args);
      if (DIRECT_CALLS.has(name)) return (...args: unknown[]) => call(args);
      if (name === 'start' || name === 'evaluate') return (...args: unknown[]) => begin(args[0] as number, () => call(args));
      return (...args: unknown[]) => during(() => call(args));
    },
  });
}

function resumingNetwork(link: NetworkLink, policy: IdlePolicy): NetworkLink {
  return {
    open: (target, listener) => {
      const done = policy.use();
      const observed: StreamListener = {
        data: (bytes) => listener.data(bytes),
        credit: (bytes) => listener.credit(bytes),
        ended: () => listener.ended(),
        closed: (error) => {
          done();
          listener.closed(error);
        },
      };
      const ready = policy.ready();
      const open = (): OpenStream => link.open(target, observed);
      const stream = ready === undefined ? open() : new DelayedStream(ready, open);
      stream.opened.catch(done);
      return {
        opened: stream.opened,
        write: (bytes) => stream.write(bytes),
        end: () => stream.end(),
        credit: (bytes) => stream.credit(bytes),
        close: (reset) => {
          done();
          stream.close(reset);
        },
      };
    },
    listeners: async (target) => policy.during(() => link.listeners(target)),
    wait: (target) => {
      let cancel = (): void => {};
      let isCancelled = false;
      const begin = (): Promise<never> | ReturnType<NetworkLink['wait']>['answer'] => {
        const wait = link.wait(target);
        cancel = () => wait.cancel();
        if (isCancelled) wait.cancel();
        return wait.answer;
      };
      const answer = Promise.resolve(policy.during(begin));
      return {
        answer,
        cancel: () => {
          isCancelled = true;
          cancel();
        },
      };
    },
  };
}

/**
 * A connection that opens after the resumption. Earlier calls are repeated then, in their order.
 */
class DelayedStream implements OpenStream {
  readonly opened: Promise<void>;
  #stream: OpenStream | undefined;
  #earlier: ((stream: OpenStream) => void)[] = [];

  constructor(ready: Promise<void>, open: () => OpenStream) {
    this.opened = ready.then(() => {
      const stream = open();
      this.#stream = stream;
      for (const call of this.#earlier.splice(0)) call(stream);
      return stream.opened;
    });
  }

  write(bytes: Uint8Array): void {
    const copy = this.#stream === undefined ? bytes.slice() : bytes;
    this.#call((stream) => stream.write(copy));
  }

  end(): void {
    this.#call((stream) => stream.end());
  }

  credit(bytes: number): void {
    this.#call((stream) => stream.credit(bytes));
  }

  close(reset: boolean): void {
    this.#call((stream) => stream.close(reset));
  }

  #call(call: (stream: OpenStream) => void): void {
    if (this.#stream === undefined) this.#earlier.push(call);
    else call(this.#stream);
  }
}
