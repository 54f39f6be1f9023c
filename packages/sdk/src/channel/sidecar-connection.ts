// The calls of one sidecar, over any transport. Most calls are requests of the protocol. Other
// calls have state in this process: services, listeners, streams. `connection.ts` implements all
// calls over a channel. `idle/resuming-connection.ts` wraps the connection of a runtime with an
// idle policy.

import type { HostService } from '../host-calls/dispatcher.js';
import type { LimitWarningListener } from '../options/limits.js';
import type {
  NetworkId,
  NetworkTaken,
  OutsideTaken,
  PermissionsTaken,
  ProcessAttach,
  ProcessStart,
  RequestId,
  RunnerEval,
  RuntimeClone,
  RuntimeCopy,
  RuntimeCreate,
  RuntimeCreated,
  RuntimeId,
  WallPart,
} from '../protocol/generated/messages.js';
import type { Requests } from '../protocol/generated/tables.js';
import type { LossListener, OutputListener, StartListener } from './channel.js';
import type { NetworkLink } from './network-link.js';
import type { Outcome } from './outcome.js';

/** Receives permission decisions. Does not throw. */
export type DecisionListener = (decisions: PermissionsTaken) => void;

/** Receives events of connections out of a runtime. Does not throw. */
export type OutsideListener = (events: OutsideTaken) => void;

/** Receives the number of a request that waits for a function of the app. Does not throw. */
export type HandlerListener = (number: number) => void;

/** Receives events of a private network. Does not throw. */
export type MembersListener = (events: NetworkTaken) => void;

/**
 * The connection to one sidecar. When the sidecar ends, the promises of all pending calls except
 * `dispose()` reject.
 */
export interface SidecarConnection {
  /** The pid of the process that runs the guests. */
  readonly pid: number;
  /** Returns the parts of the wall around the process. Empty before the sidecar's hello. */
  walls(): readonly WallPart[];
  /** Returns the content hash of the guest image. Empty before the sidecar's hello. */
  image(): string;
  /** Sends a request. Resolves with its reply, whose bytes may be a view of reused memory. */
  request<N extends keyof Requests>(name: N, body: Requests[N]['body']): Promise<Requests[N]['reply']>;
  /**
   * Creates a runtime. `onWarning` receives the limit warnings of the runtime, which the sidecar
   * sends if the option `warn` is set.
   */
  createRuntime(options: RuntimeCreate, onWarning?: LimitWarningListener): Promise<RuntimeCreated>;
  /**
   * Makes clones. `onWarning` receives the limit warnings of the clones, which the sidecar sends if
   * `warn` of `clone` is set.
   */
  cloneRuntime(clone: RuntimeClone, onWarning?: LimitWarningListener): Promise<RuntimeCopy[]>;
  /** Ends a runtime and its programs, and aborts the programs' host calls. */
  disposeRuntime(runtime: RuntimeId): Promise<void>;
  /** Connections into the runtimes, and waits for listeners in the runtimes. */
  readonly network: NetworkLink;
  /**
   * Registers `service` under `name` for the host calls of a runtime, until the runtime is
   * disposed.
   */
  serve(runtime: RuntimeId, name: string, service: HostService): void;
  /**
   * Holds host calls of unknown runtimes until the returned function is called. Programs of a
   * restored runtime run before its services are registered.
   */
  expectCalls(): () => void;
  /**
   * Abandons the pending host calls of a runtime that was paused. The services stay registered.
   */
  dropCalls(runtime: RuntimeId): void;
  /**
   * Sets or removes the listener for permission decisions. A failed removal leaves the listener.
   */
  watchPermissions(runtime: RuntimeId, listener: DecisionListener | undefined): Promise<void>;
  /**
   * Passes all decisions that the sidecar holds to `listener`, after all earlier decisions. The
   * runtime may be paused.
   */
  takeDecisions(runtime: RuntimeId, listener: DecisionListener): Promise<void>;
  /** Sets or removes the listener for events of connections out of a runtime. */
  watchOutside(runtime: RuntimeId, listener: OutsideListener | undefined): Promise<void>;
  /** Passes all such events that the sidecar holds to `listener`, after all earlier events. */
  takeOutside(runtime: RuntimeId, listener: OutsideListener): Promise<void>;
  /** Sets or removes the listener for events of a private network. */
  watchMembers(network: NetworkId, listener: MembersListener | undefined): Promise<void>;
  /** Passes all such events that the sidecar holds to `listener`, after all earlier events. */
  takeMembers(network: NetworkId, listener: MembersListener): Promise<void>;
  /** Removes the listener for events of a network that was disposed. */
  dropMembers(network: NetworkId): void;
  /** Sets or removes the function that is called when the values of secrets are needed. */
  watchSecrets(runtime: RuntimeId, listener: (() => void) | undefined): void;
  /**
   * Sets or removes the function that is called with the number of each request that waits for a
   * function of the app. Requests that have arrived before the first call are passed at once.
   */
  watchHandlers(runtime: RuntimeId, listener: HandlerListener | undefined): void;
  /** Returns an id for `start`, `evaluate` or `attach`, which `cancel` and `credit` use. */
  nextId(): RequestId;
  /**
   * Runs a program. Returns the outcome without a promise if the program ends during the call. If
   * `live` of `program` is set, `onStarted` receives the pid of the program when the program has
   * started.
   */
  start(id: RequestId, program: ProcessStart, onOutput?: OutputListener, onStarted?: StartListener): Outcome | Promise<Outcome>;
  /** Evaluates a snippet in a resident runner. Returns as `start` does. */
  evaluate(id: RequestId, snippet: RunnerEval, onOutput?: OutputListener): Outcome | Promise<Outcome>;
  /**
   * Attaches to a program. `onStarted` receives the pid, and `onLost` the numbers of lost bytes.
   * Returns as `start` does.
   */
  attach(
    id: RequestId,
    attach: ProcessAttach,
    onOutput?: OutputListener,
    onStarted?: StartListener,
    onLost?: LossListener,
  ): Outcome | Promise<Outcome>;
  /** Cancels a program or an evaluation. The pending call still returns an outcome. */
  cancel(id: RequestId): void;
  /** Returns credit for consumed bytes of a program's output. */
  credit(id: RequestId, bytes: number): void;
  /** Returns whether the sidecar has ended or was disposed. */
  isOver(): boolean;
  /** Ends the sidecar. Pending calls reject. Resolves when the sidecar has ended. */
  dispose(): Promise<void>;
}

/** The part of a connection that sends requests. */
export type Requester = Pick<SidecarConnection, 'request'>;

/** A connection to a sidecar process, which a runtime may own. */
export interface ProcessConnection extends SidecarConnection {
  /**
   * Resolves when the last pending request has ended or the channel has closed. Returns `undefined`
   * if no request is pending.
   */
  idle(): Promise<void> | undefined;
}

/** A new connection, and the durations of its opening. Requests need not wait for `opened`. */
export interface Opening<C extends SidecarConnection = SidecarConnection> {
  /** The connection, usable at once. */
  readonly connection: C;
  /**
   * Resolves with the durations when the sidecar's hello has arrived. Rejects if the sidecar could
   * not be started.
   */
  readonly opened: Promise<Opened>;
}

/** The durations of the steps of an opening, in milliseconds. */
export interface Opened {
  /** The time until the process was started. `undefined` without a process. */
  readonly spawnMs?: number;
  /**
   * The time until the hello: from the process's start, or from the call if no process was started.
   */
  readonly sessionMs: number;
  /**
   * The load time of the precompiled module, which is included in the sum of `spawnMs` and
   * `sessionMs`.
   */
  readonly moduleLoadMs: number;
}
