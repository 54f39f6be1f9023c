// The floors of the gate: steps of the machine that do not depend on Coldframe.
//
// A floor is measured before and after each slice of a row. The figure of the row is the time of
// the row divided by the time of the floor. A machine that is slower as a whole therefore changes
// no figure.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { spawnFloor } from '../floors/definitions.js';
import type { FloorDefinition } from '../floors/floor.js';
import { now } from '../statistics/timer.js';

/** A computation of strings, objects and numbers in the benchmark's own process. */
const computation: FloorDefinition = {
  name: 'computation',
  what: 'strings, objects and numbers in this process',
  repeat: 1,
  open: async () => {
    let turn = 0;
    return {
      measure: async () => {
        turn++;
        const from = now();
        const list = Array.from({ length: 400 }, (_, index) => ({ index, text: `item ${index * turn}` }));
        const sum = (JSON.parse(JSON.stringify(list)) as typeof list).reduce((total, { index }) => total + index, 0);
        const elapsed = now() - from;
        if (sum !== (400 * 399) / 2) throw new Error(`the sum was ${sum}`);
        return elapsed;
      },
    };
  },
};

/** A message to another process and back, over pipes. */
const roundTrip: FloorDefinition = {
  name: 'round trip',
  what: 'a message to `cat` and back, over pipes',
  repeat: 1,
  open: async () => {
    const child: ChildProcessByStdio<Writable, Readable, null> = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
    await once(child, 'spawn');
    return {
      measure: async () => {
        const from = now();
        child.stdin.write('ping');
        const [data] = (await once(child.stdout, 'data')) as [Buffer];
        const elapsed = now() - from;
        if (data.toString() !== 'ping') throw new Error(`the reply was ${data.toString()}`);
        return elapsed;
      },
      close: async () => {
        child.stdin.end();
        if (child.exitCode === null) await once(child, 'exit');
      },
    };
  },
};

export const gateFloors = {
  computation,
  'round trip': roundTrip,
  process: spawnFloor('process', 'spawn /bin/true to its exit', () => '/bin/true', []),
} satisfies Record<string, FloorDefinition>;

export type GateFloorName = keyof typeof gateFloors;
