// A sidecar's connection as a runtime has it that may be asleep: every request wakes it first, and while a request is under way it stays awake. A wrapper and not a
// line in each call, so that no call can be forgotten and runtimes without the policy pay nothing.

import type { NetworkLink, OpenStream, StreamListener } from '../channel/network-link.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { SnapshotLink } from '../channel/snapshots.js';
import type { IdlePolicy } from './idle.js';
import { WakefulFiles } from './wakeful-files.js';
import { whileUsed } from './while-used.js';

// Those that are no use of the runtime, or are said of something that is under way anyway.
const ASIDE: ReadonlySet<PropertyKey> = new Set<keyof SidecarConnection | string>([
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
  // Repeated while it wakes.
  'setBindings',
]);

/** Wraps `connection`. */
export function wakeful<C extends SidecarConnection>(connection: C, policy: IdlePolicy): C {
  // Programs that were canceled before they were begun.
  const early = new Set<number>();
  const waiting = new Set<number>();
  const during = <T>(work: () => T): T | Promise<Awaited<T>> => whileUsed(policy, work);
  const begin = (id: number, work: () => unknown): unknown => {
    if (policy.ready() === undefined) return during(work);
    waiting.add(id);
    const begun = during(() => {
      waiting.delete(id);
      const outcome = work();
      if (early.delete(id)) connection.cancel(id);
      return outcome;
    });
    const forget = (): void => {
      waiting.delete(id);
      early.delete(id);
    };
    Promise.resolve(begun).then(forget, forget);
    return begun;
  };
  const cancel = (id: number): void => {
    if (waiting.has(id)) early.add(id);
    else connection.cancel(id);
  };
  // A call of a guest is answered before it sleeps, whoever has begun the program: it would be rejected otherwise.
  const serve: SidecarConnection['serve'] = (runtime, name, service) =>
    connection.serve(runtime, name, (request) => {
      const done = policy.use();
      try {
        const answer = service(request);
        if (answer instanceof Uint8Array) done();
        else answer.then(done, done);
        return answer;
      } catch (error) {
        done();
        throw error;
      }
    });
  const network = wakefulNetwork(connection.network, policy);
  const files = new WakefulFiles(connection.opened, policy);
  const snapshots: SnapshotLink = {
    ...connection.snapshots,
    take: async (take) => during(() => connection.snapshots.take(take)),
    rollback: async (rollback) => {
      const leaveBehind = files.untilNow();
      const restored = await during(() => connection.snapshots.rollback(rollback));
      leaveBehind();
      return restored;
    },
    // Its own wish or the policy's: nothing to be awake for.
    pause: async (pause) => {
      const saved = await connection.snapshots.pause(pause);
      files.untilNow()();
      return saved;
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
      if (ASIDE.has(name)) return (...args: unknown[]) => call(args);
      if (name === 'start' || name === 'evaluate') return (...args: unknown[]) => begin(args[0] as number, () => call(args));
      return (...args: unknown[]) => during(() => call(args));
    },
  });
}

function wakefulNetwork(link: NetworkLink, policy: IdlePolicy): NetworkLink {
  return {
    open: (target, listener) => {
      const done = policy.use();
      const watched: StreamListener = {
        data: (bytes) => listener.data(bytes),
        credit: (bytes) => listener.credit(bytes),
        ended: () => listener.ended(),
        closed: (error) => {
          done();
          listener.closed(error);
        },
      };
      const ready = policy.ready();
      const stream = ready === undefined ? link.open(target, watched) : new LaterStream(ready, () => link.open(target, watched));
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
    listeners: async (target) => whileUsed(policy, () => link.listeners(target)),
    wait: (target) => {
      let cancel = (): void => {};
      let canceled = false;
      const begin = (): Promise<never> | ReturnType<NetworkLink['wait']>['answer'] => {
        const wait = link.wait(target);
        cancel = () => wait.cancel();
        if (canceled) wait.cancel();
        return wait.answer;
      };
      const answer = Promise.resolve(whileUsed(policy, begin));
      return {
        answer,
        cancel: () => {
          canceled = true;
          cancel();
        },
      };
    },
  };
}

// A connection that is opened when the runtime is awake. What is done with it before is done then, in its order.
class LaterStream implements OpenStream {
  readonly opened: Promise<void>;
  #stream: OpenStream | undefined;
  #before: ((stream: OpenStream) => void)[] = [];

  constructor(ready: Promise<void>, open: () => OpenStream) {
    this.opened = ready.then(() => {
      const stream = open();
      this.#stream = stream;
      for (const act of this.#before.splice(0)) act(stream);
      return stream.opened;
    });
  }

  write(bytes: Uint8Array): void {
    const copy = this.#stream === undefined ? bytes.slice() : bytes;
    this.#do((stream) => stream.write(copy));
  }

  end(): void {
    this.#do((stream) => stream.end());
  }

  credit(bytes: number): void {
    this.#do((stream) => stream.credit(bytes));
  }

  close(reset: boolean): void {
    this.#do((stream) => stream.close(reset));
  }

  #do(act: (stream: OpenStream) => void): void {
    if (this.#stream === undefined) this.#before.push(act);
    else act(this.#stream);
  }
}
