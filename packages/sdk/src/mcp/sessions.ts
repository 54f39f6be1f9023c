// The sessions of the server: a runtime for each id, in one sidecar. An unused session is disposed
// after the idle time. A session in use is never disposed by the idle timer.

import { randomUUID } from 'node:crypto';
import { sessionLimit, sessionNotFound } from '../errors/make.js';
import type { NodeRuntime } from '../index.js';
import type { RuntimeSource } from './options.js';

/** The session of a call that names no session. The first such call creates the session. */
export const DEFAULT_SESSION = 'default';

interface Session {
  runtime: NodeRuntime;
  created: Date;
  /** The calls in progress. */
  calls: number;
  timer: NodeJS.Timeout | undefined;
}

/** A session as plain data. */
export interface SessionEntry {
  session: string;
  createdAt: string;
  idle: boolean;
  [name: string]: unknown;
}

/** The sessions of one server. */
export class Sessions {
  readonly #source: RuntimeSource;
  readonly #maxSessions: number;
  readonly #idleMs: number;
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor(source: RuntimeSource, { maxSessions, idleMs }: { maxSessions: number; idleMs: number }) {
    this.#source = source;
    this.#maxSessions = maxSessions;
    this.#idleMs = idleMs;
  }

  /**
   * Creates a session and returns its id. @throws `ERR_SESSION_LIMIT`, as `NodeRuntime.create()`
   */
  async create(): Promise<string> {
    return this.#new(() => this.#source.create());
  }

  /**
   * Copies a session and returns the id of the copy. @throws as `use()`, `ERR_SESSION_LIMIT`,
   * `ERR_NOT_QUIET`
   */
  async clone(id: string | undefined): Promise<string> {
    return this.use(id, (runtime) => this.#new(() => this.#source.clone?.(runtime) ?? runtime.clone()));
  }

  /**
   * Calls `work` with the runtime of a session.
   * @throws `ERR_SESSION_NOT_FOUND`, `ERR_SESSION_LIMIT`, the error of `work`
   */
  async use<T>(id: string | undefined, work: (runtime: NodeRuntime) => Promise<T>): Promise<T> {
    const name = id ?? DEFAULT_SESSION;
    const present =
      this.#sessions.get(name) ?? (name === DEFAULT_SESSION ? this.#add(name, () => this.#source.create()) : undefined);
    if (present === undefined) throw sessionNotFound(name);
    const session = await present;
    // The session may have been closed during the wait.
    if (!this.#sessions.has(name)) throw sessionNotFound(name);
    clearTimeout(session.timer);
    session.calls++;
    try {
      return await work(session.runtime);
    } finally {
      session.calls--;
      this.#wait(name, session);
    }
  }

  /** Disposes a session. @throws `ERR_SESSION_NOT_FOUND` */
  async close(id: string): Promise<void> {
    const present = this.#sessions.get(id);
    if (present === undefined) throw sessionNotFound(id);
    this.#sessions.delete(id);
    const session = await present;
    clearTimeout(session.timer);
    await this.#dispose(session);
  }

  /** Disposes all sessions. */
  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#sessions.keys()].map((id) => this.close(id)));
  }

  async #dispose({ runtime }: Session): Promise<void> {
    await (this.#source.dispose?.(runtime) ?? runtime.dispose());
  }

  async #new(create: () => Promise<NodeRuntime>): Promise<string> {
    const id = `session-${randomUUID().slice(0, 8)}`;
    await this.#add(id, create);
    return id;
  }

  /** Returns all sessions in the order of their creation. */
  async list(): Promise<SessionEntry[]> {
    return Promise.all(
      [...this.#sessions].map(async ([session, present]) => {
        const { created, calls } = await present;
        return { session, createdAt: created.toISOString(), idle: calls === 0 };
      }),
    );
  }

  #add(id: string, create: () => Promise<NodeRuntime>): Promise<Session> {
    const sessions = this.#sessions.size;
    if (sessions >= this.#maxSessions) throw sessionLimit({ sessions, maxSessions: this.#maxSessions });
    const added = create().then((runtime): Session => {
      const session = { runtime, created: new Date(), calls: 0, timer: undefined };
      this.#wait(id, session);
      return session;
    });
    this.#sessions.set(id, added);
    added.catch(() => this.#sessions.delete(id));
    return added;
  }

  #wait(id: string, session: Session): void {
    if (session.calls > 0) return;
    clearTimeout(session.timer);
    session.timer = setTimeout(() => {
      // The session may have been closed, and another session may have its id.
      void this.#sessions.get(id)?.then((present) => (present === session ? this.close(id) : undefined));
    }, this.#idleMs).unref();
  }
}
