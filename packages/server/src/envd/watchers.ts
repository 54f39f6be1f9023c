// Watches whose events clients ask for, instead of reading a stream.

import { randomUUID } from 'node:crypto';
import type { FilesystemEvent } from '../generated/filesystem_pb.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { type WatchOptions, watchDirectory } from './watch.js';

/** The most events that wait for a client. */
const MOST_EVENTS = 4_096;

interface Watcher {
  events: FilesystemEvent[];
  stop: AbortController;
}

/** The watchers of all sandboxes. */
export class Watchers {
  readonly #bySandbox = new WeakMap<Sandbox, Map<string, Watcher>>();

  /** Starts a watch and returns its id. */
  add(sandbox: Sandbox, path: string, options: WatchOptions): string {
    const id = randomUUID();
    const watcher: Watcher = { events: [], stop: new AbortController() };
    const own = this.#bySandbox.get(sandbox) ?? new Map<string, Watcher>();
    this.#bySandbox.set(sandbox, own.set(id, watcher));
    void collect(sandbox, path, options, watcher).catch(() => own.delete(id));
    return id;
  }

  /** Removes and returns the events of a watcher, or `undefined` if the watcher does not exist. */
  async take(sandbox: Sandbox, id: string): Promise<FilesystemEvent[] | undefined> {
    return this.#bySandbox.get(sandbox)?.get(id)?.events.splice(0);
  }

  /** Ends a watch. */
  remove(sandbox: Sandbox, id: string): void {
    const own = this.#bySandbox.get(sandbox);
    own?.get(id)?.stop.abort();
    own?.delete(id);
  }
}

async function collect(sandbox: Sandbox, path: string, options: WatchOptions, { events, stop }: Watcher): Promise<void> {
  for await (const event of watchDirectory(sandbox, path, options, stop.signal)) {
    if (events.length >= MOST_EVENTS) events.shift();
    events.push(event);
  }
}
