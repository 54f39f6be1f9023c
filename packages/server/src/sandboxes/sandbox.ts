// A sandbox that this process holds: its runtime, its programs, its open streams, and the timer of
// its deadline. Next: `sandboxes.ts`.

import type { Socket } from 'node:net';
import type { NodeRuntime } from 'coldframe';
import { Programs } from '../envd/programs.js';
import type { SandboxRecord } from '../registry/records.js';
import { Logs } from './logs.js';
import { Samples } from './metrics.js';

/** The longest delay of a timer of Node, in milliseconds. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** A running or paused sandbox with its runtime. */
export class Sandbox {
  readonly id: string;
  /** The newest token of all calls of programs and files. */
  accessToken: string;
  readonly runtime: NodeRuntime;
  /** The programs that clients started. */
  readonly programs: Programs;
  readonly samples: Samples;
  /** The newest lines of output. */
  readonly logs: Logs;
  /** The metadata of files, by path. */
  readonly fileMetadata: Map<string, Record<string, string>>;
  readonly #streams = new Map<Socket, number>();
  #usedAt = performance.now();
  #until: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(record: Pick<SandboxRecord, 'id' | 'accessToken' | 'fileMetadata'>, runtime: NodeRuntime) {
    this.id = record.id;
    this.accessToken = record.accessToken;
    this.runtime = runtime;
    this.logs = new Logs();
    this.programs = new Programs(runtime, this.logs);
    this.samples = new Samples(runtime);
    this.fileMetadata = new Map(Object.entries(record.fileMetadata));
  }

  /** Calls `end` after `ms` milliseconds. Replaces an earlier deadline. */
  setDeadline(ms: number, end: () => void): void {
    clearTimeout(this.#timer);
    // A change of the machine's time does not move the end of a sandbox.
    const until = performance.now() + ms;
    this.#until = until;
    const wait = (): void => {
      const left = until - performance.now();
      if (left <= 0) end();
      else this.#timer = setTimeout(wait, Math.min(left, LONGEST_TIMER_MS));
    };
    this.#timer = setTimeout(wait, 0);
  }

  /** Removes the deadline. */
  clearDeadline(): void {
    clearTimeout(this.#timer);
    this.#until = undefined;
  }

  /** Milliseconds until the deadline, or 0 without a deadline. */
  get leftMs(): number {
    return this.#until === undefined ? 0 : this.#until - performance.now();
  }

  /** Milliseconds since the last request ended, or 0 while a request is open. */
  get idleMs(): number {
    return this.#streams.size > 0 ? 0 : performance.now() - this.#usedAt;
  }

  /** Registers the connection of an open stream until the stream ends. */
  hold(socket: Socket): () => void {
    this.#streams.set(socket, (this.#streams.get(socket) ?? 0) + 1);
    return () => {
      const left = (this.#streams.get(socket) ?? 1) - 1;
      this.#usedAt = performance.now();
      if (left === 0) this.#streams.delete(socket);
      else this.#streams.set(socket, left);
    };
  }

  /** Attaches to the programs of a clone of `source`, and copies the metadata of files. */
  async takeOver(source: Sandbox): Promise<void> {
    for (const [path, metadata] of source.fileMetadata) this.fileMetadata.set(path, metadata);
    await this.programs.attach(source.programs.running);
  }

  /** Moves the metadata of a renamed file, or of the files in a renamed directory. */
  moveMetadata(from: string, to: string): void {
    for (const [path, metadata] of [...this.fileMetadata]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.fileMetadata.delete(path);
      this.fileMetadata.set(to + path.slice(from.length), metadata);
    }
  }

  /** Removes the metadata of a removed file or directory. */
  removeMetadata(removed: string): void {
    for (const path of [...this.fileMetadata.keys()]) {
      if (path === removed || path.startsWith(`${removed}/`)) this.fileMetadata.delete(path);
    }
  }

  /** Destroys the connections of open streams. */
  endStreams(): void {
    for (const socket of this.#streams.keys()) socket.destroy();
    this.#streams.clear();
  }

  /**
   * Ends the runtime. The connections of open streams are destroyed first. A client that reads a
   * broken stream asks for the health of the sandbox, and then reports the end of the sandbox.
   */
  async end(): Promise<void> {
    this.clearDeadline();
    this.endStreams();
    await this.runtime.dispose();
  }
}
