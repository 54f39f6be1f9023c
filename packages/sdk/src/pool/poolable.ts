// What a pool needs of the runtimes in it, and of who makes them. The pool knows no more than this, so that its rules can be tested with runtimes that
// are made up. Next: `keeper.ts`, what is done with them.

/** What a pause has left on disk. */
export interface PausedState {
  /** Takes it away. */
  delete(): Promise<unknown>;
}

/** A runtime that can lie in a pool. */
export interface PoolableRuntime {
  /** Whether it can be used now. */
  readonly state: 'running' | 'paused' | 'disposed';
  /** Takes it back into memory. */
  resume(): Promise<void>;
  /** Ends it. */
  dispose(): Promise<void>;
}

/** What calls do to a slot, by their names. */
export interface CallRules {
  /** They change what a rollback does not take back: whoever has called one gets no successor in its slot. */
  readonly lasting: ReadonlySet<PropertyKey>;
  /** They have asked all that they ask when they return a promise, and a rollback ends what it waits for. */
  readonly begun: ReadonlySet<PropertyKey>;
  /** Their promise gives a part of the slot that has calls of its own, or a list of such. */
  readonly handles: ReadonlySet<PropertyKey>;
}

/** Makes runtimes that are all alike. */
export interface SlotSource<R extends PoolableRuntime> {
  /** Of the runtime, and of what its calls hand out. */
  readonly calls: CallRules;
  readonly handleCalls: CallRules;
  /** Throws when a runtime must not do that for this tenant, because others could get to see it. */
  assertOwn(tenant: string, method: PropertyKey, args: readonly unknown[]): void;
  /** One more. */
  make(): Promise<R>;
  /** Brings one back to what it was when it was made. */
  restore(runtime: R): Promise<void>;
  /** Gives its memory back; its state lies on disk until it goes on, and is nobody's when that cannot be any more. */
  pause(runtime: R): Promise<PausedState>;
  /** Whether those that were made so far are gone; and then why, and whether none can be made any more. Told once. */
  lost(): Promise<Loss> | undefined;
  /** Nobody needs a runtime any more that is not being made from what is there already. */
  abandon(reason: Error): void;
  /** Ends what it holds itself. */
  close(): Promise<void>;
}

/** All runtimes of a source are gone. */
export interface Loss {
  readonly error: unknown;
  /** Whether it can make no more. */
  readonly final: boolean;
}
