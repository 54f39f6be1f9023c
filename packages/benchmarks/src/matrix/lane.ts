// A lane makes the calls of one operation, one after the other. Several lanes make calls at once.
//
// A lane of a mode has a runtime of its own. A lane of Node makes the equivalent calls of Node's
// own API, with processes of Node. Operations use only the interfaces of this file, and tests
// implement the interfaces with lanes that reply wrongly or fail. Next: `runtime-lane.ts` and
// `node-lane.ts` for the implementations, `operation.ts` for operations.

import type { Duplex } from 'node:stream';
import type { ExecResult } from '../sandbox/snippet.js';

/** The file system of a guest's folder: of the runtime, a mounted folder, or of the app. */
export type Place = 'memory' | 'mount' | 'app';

export const PLACES = ['memory', 'mount', 'app'] as const satisfies readonly Place[];

/** A running program. */
export interface LiveProgram {
  result: Promise<ExecResult>;
  /** Writes a line to stdin. Resolves with the next line of stdout. */
  request(line: string): Promise<string>;
  /** Resolves with the next line of stdout. */
  line(): Promise<string>;
  stop(): Promise<void>;
}

export interface Lane {
  /** Runs an ES module: in a fresh process, or in the resident runner of the lane. */
  exec(code: string): Promise<ExecResult>;
  /** Runs an ES module in a fresh process. Resolves with the argument of `__return()`. */
  run(code: string): Promise<unknown>;
  execFile(path: string, args: readonly string[]): Promise<ExecResult>;
  command(name: string, args: readonly string[]): Promise<ExecResult>;
  spawn(code: string): Promise<LiveProgram>;
  /**
   * Runs the body of an asynchronous function with the guest's globals. Resolves with its result,
   * which is sent as JSON.
   */
  perform(body: string): Promise<unknown>;
  /** Requests a path of a server of the lane. Resolves with the body. */
  fetch(port: number, path: string): Promise<string>;
  connect(port: number): Duplex;
  writeFile(path: string, data: Uint8Array | string): Promise<void>;
  readFile(path: string): Promise<Uint8Array>;
  size(path: string): Promise<number>;
  names(path: string): Promise<string[]>;
  /** Creates another runtime and disposes of it. Missing if the side has no runtimes. */
  createAndDispose?(): Promise<void>;
  /** Returns an existing folder of a place, as the programs of the lane name the folder. */
  folder(place: Place): string;
  close(): Promise<void>;
}

/** A program that computes and writes a file without a pause. */
export interface Neighbour {
  stop(): Promise<void>;
}

/** Opens lanes and neighbours: a mode of Coldframe, or Node. */
export interface Side {
  /** `places` are the file systems that the operation uses. */
  openLane(places: readonly Place[]): Promise<Lane>;
  startNeighbour(): Promise<Neighbour>;
  close(): Promise<void>;
}

/** The program of a neighbour. The first line of stdout says that the work has begun. */
export const NEIGHBOUR = `
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
const file = mkdtempSync(tmpdir() + '/neighbour-') + '/file';
const data = Buffer.alloc(65_536, 'x');
console.log('working');
for (let turn = 0; ; turn++) {
  const list = Array.from({ length: 2_000 }, (_, index) => ({ index, square: index * turn }));
  if (JSON.stringify(list).length > 0) writeFileSync(file, data);
}`;

export const ANSWER = 'answer';

/** The function that programs call with `callBinding('answer', { a, b })`. */
export const answer = ({ a, b }: { a: number; b: number }): number => a + b;
