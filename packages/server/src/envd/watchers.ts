// Watches whose events clients ask for, instead of reading a stream. The events wait in the
// sidecar, which bounds their number.

import { randomUUID } from 'node:crypto';
import { isColdframeError } from 'coldframe';
import type { FilesystemEvent } from '../generated/filesystem_pb.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { DirectoryWatch, type WatchOptions } from './watch.js';

interface Watcher {
  watch: DirectoryWatch;
  stop: AbortController;
}

/** The watchers of all sandboxes. */
export class Watchers {
  readonly #bySandbox = new WeakMap<Sandbox, Map<string, Watcher>>();

  /** Starts a watch and returns its id. */
  async add(sandbox: Sandbox, path: string, options: WatchOptions): Promise<string> {
    const id = randomUUID();
    const stop = new AbortController();
    const watch = await DirectoryWatch.start(sandbox, path, options, stop.signal);
    const own = this.#bySandbox.get(sandbox) ?? new Map<string, Watcher>();
    this.#bySandbox.set(sandbox, own.set(id, { watch, stop }));
    return id;
  }

  /** Removes and returns the events of a watcher, or `undefined` if the watcher does not exist. */
  async take(sandbox: Sandbox, id: string): Promise<FilesystemEvent[] | undefined> {
    const own = this.#bySandbox.get(sandbox);
    const watcher = own?.get(id);
    try {
      return await watcher?.watch.take();
    } catch (error) {
      // A pause has ended the watch, or the client has removed the watcher.
      if (!isColdframeError(error) && watcher?.stop.signal.aborted !== true) throw error;
      own?.delete(id);
      return undefined;
    }
  }

  /** Ends a watch. */
  remove(sandbox: Sandbox, id: string): void {
    const own = this.#bySandbox.get(sandbox);
    own?.get(id)?.stop.abort();
    own?.delete(id);
  }
}
