// What an operation is: it is opened on a place, does rounds, and is closed. Next: `operations/snapshot.ts` for the first, `row.ts` for their user.

import { type Snippet, whatIsWrong } from '../scenarios/snippet.js';
import { type Box, type BoxOptions, type Host, type OpenHost, reason, type Saved } from './box.js';
import type { Round, RoundBook } from './round.js';
import { makeState, plant, type State, write } from './state.js';

export interface Shape {
  /** At once, or copies. */
  n: number;
  /** Written by the guest before; in a rollback, after the snapshot. */
  megabytes: number;
  /** How, where an operation knows several ways. */
  way?: string;
}

export interface Opened {
  round(): Promise<Round>;
  close?(): Promise<void>;
}

export type Operation = (place: Place, shape: Shape) => Promise<Opened>;

/** A sidecar and its folder of snapshots; the sidecar can be made anew, the folder stays. */
export class Place {
  readonly #open: OpenHost;
  readonly #directory: string;
  #host: Host;

  private constructor(open: OpenHost, directory: string, host: Host) {
    this.#open = open;
    this.#directory = directory;
    this.#host = host;
  }

  static async open(open: OpenHost, directory: string): Promise<Place> {
    return new Place(open, directory, await open(directory));
  }

  get host(): Host {
    return this.#host;
  }

  /** Another sidecar on the same folder. The one before has to be gone. */
  async reopen(): Promise<Host> {
    this.#host = await this.#open(this.#directory);
    return this.#host;
  }

  close(): Promise<void> {
    return this.#host.close();
  }
}

/** A box and what it has to know. */
export interface Lived {
  box: Box;
  state: State;
}

/** One after the other: making them is not what is measured. */
export async function makeLived(host: Host, count: number, megabytes: number, options?: Partial<BoxOptions>): Promise<Lived[]> {
  const lived: Lived[] = [];
  for (let index = 0; index < count; index++) lived.push(await makeOne(host, megabytes, options));
  return lived;
}

export async function makeOne(host: Host, megabytes: number, options: Partial<BoxOptions> = {}): Promise<Lived> {
  const box = await host.create({ runner: true, megabytes, ...options });
  const state = makeState(options.fileMegabytes === undefined ? 'buffers' : 'files');
  await must(box, plant(state));
  if (megabytes > 0) await must(box, write(state, megabytes));
  return { box, state };
}

/** What is wrong with its answer, if anything. */
export const wrong = async (box: Box, snippet: Snippet): Promise<string | undefined> =>
  whatIsWrong(snippet, await box.ask(snippet.code));

export async function must(box: Box, snippet: Snippet): Promise<void> {
  const problem = await wrong(box, snippet);
  if (problem !== undefined) throw new Error(problem);
}

/** Disposes of what is there; what cannot be is a failure of its place. */
export async function disposeAll(boxes: readonly (Box | undefined)[], book: RoundBook): Promise<void> {
  await Promise.all(boxes.map((box, place) => box?.dispose().catch((error) => book.fail(place, `dispose: ${reason(error)}`))));
}

/** The same for snapshots. */
export async function removeAll(host: Host, saves: readonly (Saved | undefined)[], book: RoundBook): Promise<void> {
  for (const [place, saved] of saves.entries()) {
    if (saved) await host.remove(saved).catch((error) => book.fail(place, `remove: ${reason(error)}`));
  }
}
