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
  /** Gives its memory back; its state lies on disk. */
  pause(): Promise<PausedState>;
  /** Takes it back into memory. */
  resume(): Promise<void>;
  /** Ends it. */
  dispose(): Promise<void>;
}

/** Makes runtimes that are all alike. */
export interface SlotSource<R extends PoolableRuntime> {
  /** Methods of the runtime that change what a rollback does not take back: whoever has called one gets no successor in its slot. */
  readonly lasting: ReadonlySet<PropertyKey>;
  /** Throws when a runtime must not do that for this tenant, because others could get to see it. */
  assertOwn(tenant: string, method: PropertyKey, args: readonly unknown[]): void;
  /** One more. */
  make(): Promise<R>;
  /** Brings one back to what it was when it was made. */
  restore(runtime: R): Promise<void>;
  /** Whether those that were made so far are gone; and then why, and whether none can be made any more. Told once. */
  lost(): Promise<Loss> | undefined;
  /** Ends what it holds itself. */
  close(): Promise<void>;
}

/** All runtimes of a source are gone. */
export interface Loss {
  readonly error: unknown;
  /** Whether it can make no more. */
  readonly final: boolean;
}
