// The changes below a directory, in the clients' terms.
//
// A rename has two events, as clients know: `RENAME` of the old name, `CREATE` of the new name.

import { posix } from 'node:path';
import { create } from '@bufbuild/protobuf';
import type { FileEvent, FileWatch } from 'coldframe';
import { EventType, type FilesystemEvent, FilesystemEventSchema } from '../generated/filesystem_pb.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { entryAt } from './entry.js';

/** The options of a watch. */
export interface WatchOptions {
  recursive: boolean;
  /** Whether events have the description of the file. */
  includeEntry: boolean;
}

/** The changes below one directory, until `signal` aborts or the sandbox ends. */
export class DirectoryWatch {
  readonly #sandbox: Sandbox;
  readonly #root: string;
  readonly #options: WatchOptions;
  readonly #changes: FileWatch<FileEvent>;
  readonly #signal: AbortSignal;

  private constructor(sandbox: Sandbox, root: string, options: WatchOptions, signal: AbortSignal) {
    this.#sandbox = sandbox;
    this.#root = root;
    this.#options = options;
    this.#signal = signal;
    this.#changes = sandbox.runtime.watch(root, { recursive: options.recursive, typed: true, signal });
  }

  /** Starts a watch. All changes after the returned promise has resolved are reported. */
  static async start(sandbox: Sandbox, root: string, options: WatchOptions, signal: AbortSignal): Promise<DirectoryWatch> {
    const watch = new DirectoryWatch(sandbox, root, options, signal);
    await watch.#changes.ready;
    return watch;
  }

  /** Yields the changes as they happen. */
  async *events(): AsyncIterable<FilesystemEvent> {
    try {
      for await (const change of this.#changes) yield* await this.#eventsOf(change);
    } catch (error) {
      if (!this.#signal.aborted) throw error;
    }
  }

  /** Returns the changes that happened before the call and were not returned yet. */
  async take(): Promise<FilesystemEvent[]> {
    const events: FilesystemEvent[] = [];
    for (const change of await this.#changes.drain()) events.push(...(await this.#eventsOf(change)));
    return events;
  }

  async #eventsOf({ type, path, to }: FileEvent): Promise<FilesystemEvent[]> {
    if (type === 'overflow' || path === this.#root) return [];
    const event = await this.#event(KINDS[type], path);
    return to === undefined ? [event] : [event, await this.#event(EventType.CREATE, to)];
  }

  async #event(type: EventType, path: string): Promise<FilesystemEvent> {
    const hasEntry = this.#options.includeEntry && type !== EventType.REMOVE && type !== EventType.RENAME;
    const entry = hasEntry ? await entryAt(this.#sandbox, path).catch(() => undefined) : undefined;
    const name = posix.relative(this.#root, path);
    return create(FilesystemEventSchema, { name, type, ...(entry === undefined ? {} : { entry }) });
  }
}

const KINDS: Readonly<Record<Exclude<FileEvent['type'], 'overflow'>, EventType>> = {
  create: EventType.CREATE,
  write: EventType.WRITE,
  remove: EventType.REMOVE,
  rename: EventType.RENAME,
  chmod: EventType.CHMOD,
};
