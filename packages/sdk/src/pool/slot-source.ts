// The interface between a pool and its runtimes. The pool uses only these methods, so that tests
// can supply fake runtimes. Next: `slot-lifecycle.ts`.

/** The snapshot of a paused slot. */
export interface PauseSnapshot {
  delete(): Promise<unknown>;
}

/** A runtime that can be part of a pool. */
export interface PoolableRuntime {
  /** The state of the runtime. Only a running runtime can be used. */
  readonly state: 'running' | 'paused' | 'frozen' | 'disposed';
  /** Restores the runtime into memory. */
  resume(): Promise<void>;
  /** Ends the runtime. */
  dispose(): Promise<void>;
}

/** The effects of calls on a slot, by the names of the calls. */
export interface CallRules {
  /** Calls with an effect that a rollback does not undo. Their slot is replaced after use. */
  readonly lasting: ReadonlySet<PropertyKey>;
  /**
   * Calls that send no further request after they return. A rollback ends the programs that these
   * calls started.
   */
  readonly startsProgram: ReadonlySet<PropertyKey>;
  /** Returns whether calls of `startsProgram` with these arguments send another request first. */
  readonly checksFirst?: (args: readonly unknown[]) => boolean;
  /** Calls whose promise is a handle with calls of its own, or a list of handles. */
  readonly returnsHandles: ReadonlySet<PropertyKey>;
  /** Calls that return no promise. */
  readonly immediate: ReadonlySet<PropertyKey>;
}

/** Makes equal runtimes. */
export interface SlotSource<R extends PoolableRuntime> {
  /** The effects of a runtime's calls. */
  readonly calls: CallRules;
  /** The effects of the calls of its programs and runners. */
  readonly handleCalls: CallRules;
  /** The effects of the calls of a runtime's parts, by the names of the parts. */
  readonly partCalls?: ReadonlyMap<PropertyKey, CallRules>;
  /** Throws if a call for this tenant could leave data that another tenant can find. */
  assertOwn(tenant: string, method: PropertyKey, args: readonly unknown[]): void;
  /** Makes a runtime. */
  make(): Promise<R>;
  /** Restores the state that a runtime had after its creation. */
  restore(runtime: R): Promise<void>;
  /**
   * Pauses a runtime. The store may evict the snapshot once the runtime can no longer be resumed.
   */
  pause(runtime: R): Promise<PauseSnapshot>;
  /**
   * Returns a promise if all present runtimes are lost, once for each loss. Otherwise returns
   * `undefined`.
   */
  lost(): Promise<Loss> | undefined;
  /**
   * Ends pending work for runtimes that are no longer needed, such as the preparation of a
   * template.
   */
  abandon(reason: Error): void;
  /** Ends the source's own resources. */
  close(): Promise<void>;
}

/** The loss of all runtimes of a source. */
export interface Loss {
  readonly error: unknown;
  /** Whether the source can make no further runtime. */
  readonly final: boolean;
}
