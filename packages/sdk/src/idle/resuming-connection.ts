// The connection of a runtime with an idle policy. Each request that counts as use first resumes a
// paused runtime and keeps the runtime running until the reply. Runtimes without a policy do not
// use this module.
// Next: `open-files.ts`.

import type { NetworkLink, OpenStream, StreamListener } from '../channel/network-link.js';
import type { Outcome } from '../channel/outcome.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { RequestId } from '../protocol/generated/messages.js';
import type { Requests } from '../protocol/generated/tables.js';
import { OpenFiles } from './open-files.js';
import type { IdlePolicy } from './policy.js';

/** Requests that do not count as use of the runtime. */
const DIRECT_REQUESTS: ReadonlySet<keyof Requests> = new Set<keyof Requests>([
  'ping',
  'resources',
  // The caller keeps the runtime running, or creates the runtime. A resumption sends all bindings.
  'bindings.set',
]);

/** Returns a connection that resumes the runtime before each call that counts as use. */
export function resumingConnection(connection: SidecarConnection, policy: IdlePolicy): SidecarConnection {
  const programs = new WaitingPrograms(connection, policy);
  const files = new OpenFiles(policy);
  return {
    ...connection,
    request: (name, body) => resumingRequest(connection, policy, files, name, body),
    cloneRuntime: async (clone, onWarning) => policy.during(() => connection.cloneRuntime(clone, onWarning)),
    watchOutside: async (runtime, listener) => policy.during(() => connection.watchOutside(runtime, listener)),
    watchPermissions: async (runtime, listener) => policy.during(() => connection.watchPermissions(runtime, listener)),
    network: resumingNetwork(connection.network, policy),
    start: (id, ...program) => programs.begin(id, () => connection.start(id, ...program)),
    evaluate: (id, ...snippet) => programs.begin(id, () => connection.evaluate(id, ...snippet)),
    attach: (id, ...attach) => programs.begin(id, () => connection.attach(id, ...attach)),
    cancel: (id) => programs.cancel(id),
    // The runtime stays running until the reply to a host call. A pause would reject the call.
    serve: (runtime, name, service) =>
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
      }),
  };
}

async function resumingRequest<N extends keyof Requests>(
  connection: SidecarConnection,
  policy: IdlePolicy,
  files: OpenFiles,
  name: N,
  body: Requests[N]['body'],
): Promise<Requests[N]['reply']> {
  const send = (): Promise<Requests[N]['reply']> => connection.request(name, body);
  // The app or the policy requests the pause, so the runtime need not be resumed.
  if (name === 'runtime.pause') {
    const snapshot = await send();
    files.releaseOpenSoFar()();
    return snapshot;
  }
  if (DIRECT_REQUESTS.has(name)) return send();
  if (name === 'runtime.rollback') {
    const release = files.releaseOpenSoFar();
    const restored = await policy.during(send);
    release();
    return restored;
  }
  return policy.during(() => files.follow(name, body, send));
}

/** Starts of programs that wait for the resumption. A start may be cancelled while it waits. */
class WaitingPrograms {
  readonly #connection: SidecarConnection;
  readonly #policy: IdlePolicy;
  readonly #waiting = new Set<RequestId>();
  readonly #cancelled = new Set<RequestId>();

  constructor(connection: SidecarConnection, policy: IdlePolicy) {
    this.#connection = connection;
    this.#policy = policy;
  }

  begin(id: RequestId, start: () => Outcome | Promise<Outcome>): Outcome | Promise<Outcome> {
    if (this.#policy.ready() === undefined) return this.#policy.during(start);
    this.#waiting.add(id);
    const outcome = this.#policy.during(() => {
      this.#waiting.delete(id);
      const started = start();
      if (this.#cancelled.delete(id)) this.#connection.cancel(id);
      return started;
    });
    const forget = (): void => {
      this.#waiting.delete(id);
      this.#cancelled.delete(id);
    };
    Promise.resolve(outcome).then(forget, forget);
    return outcome;
  }

  cancel(id: RequestId): void {
    if (this.#waiting.has(id)) this.#cancelled.add(id);
    else this.#connection.cancel(id);
  }
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
    // A request of a program does not resume the runtime.
    handle: (runtime, number, listener) => link.handle(runtime, number, listener),
    wait: (target) => {
      let cancel = (): void => {};
      let isCancelled = false;
      const begin = (): ReturnType<NetworkLink['wait']>['answer'] => {
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
 * A connection that is opened after the resumption. Earlier calls are stored, and are made in order
 * when the connection is opened.
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
