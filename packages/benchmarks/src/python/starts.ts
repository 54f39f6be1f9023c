// Times of starts and of single evaluations, beside floors. All kinds are measured in turns, so
// that a change of the machine affects all rows.

import { spawn } from 'node:child_process';
import { NodeRuntime, Sidecar } from 'coldframe';
import { type Statistics, summarize } from '../statistics/statistics.js';
import { now } from '../statistics/timer.js';
import { reason } from '../suite/failures.js';
import type { NativePython } from './native.js';
import { openPyodide } from './pyodide.js';

const WARM_UP = 5;
const PYTHON = { language: 'python' } as const;
/** Kinds that take seconds have fewer samples. */
const SLOW_SAMPLES = 3;

/** One result in the JSON. Statistics are in milliseconds. */
export interface StartResult {
  name: string;
  what: string;
  isFloor: boolean;
  times: Statistics | null;
  error?: string;
}

interface Probe {
  measure(): Promise<number>;
  close?(): Promise<unknown>;
}

interface Kind {
  name: string;
  what: string;
  isFloor?: true;
  isSlow?: true;
  open(facts: StartFacts): Promise<Probe>;
}

export interface StartFacts {
  native: NativePython;
  /** The folder of packages of other systems. An empty text leaves out other systems. */
  cache: string;
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const from = now();
  await work();
  return now() - from;
};

function expect(received: string | undefined, expected: string): void {
  if (received !== expected) throw new Error(`expected ${JSON.stringify(expected)}, received ${JSON.stringify(received)}`);
}

let numbers = 0;

/** Measures a creation and a first program. The disposal is not measured. */
const cold = (open: () => Promise<Sidecar>) => async (): Promise<Probe> => {
  const sidecar = await open();
  return {
    measure: async () => {
      const number = ++numbers;
      const from = now();
      const runtime = await NodeRuntime.create({ sidecar });
      const { stdout } = await runtime.exec(`print(${number}+1)`, PYTHON);
      const time = now() - from;
      expect(stdout, `${number + 1}\n`);
      await runtime.dispose();
      return time;
    },
    close: () => sidecar.dispose(),
  };
};

async function openResident() {
  const sidecar = await Sidecar.spawn();
  const runtime = await NodeRuntime.create({ sidecar });
  return { runner: await runtime.createResidentRunner(PYTHON), close: () => sidecar.dispose() };
}

const RICH = (number: number) => `class Rich:
    def __repr__(self): return "${number}"
    def _repr_html_(self): return "<b>"
    def _repr_json_(self): return {"a": 1}
Rich()`;

const spawned = (path: string, args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(path, [...args], { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${path} ended with ${code}`))));
  });

const kinds: readonly Kind[] = [
  {
    name: 'spawn /bin/true',
    what: 'a process, to its exit',
    isFloor: true,
    open: async () => ({ measure: () => timed(() => spawned('/bin/true', [])) }),
  },
  {
    name: 'native python3 -c 1',
    what: 'a process, to its exit',
    isFloor: true,
    open: async ({ native }) => ({ measure: () => timed(() => spawned(native.path, ['-c', '1'])) }),
  },
  { name: 'shared, cold print(1+1)', what: 'a runtime and a program in a running sidecar', open: cold(() => Sidecar.spawn()) },
  {
    name: 'embedded, cold print(1+1)',
    what: "a runtime and a program in the app's process",
    open: cold(() => Sidecar.embedded()),
  },
  {
    name: 'resident, warm exec("1")',
    what: 'an evaluation in a live runner',
    open: async () => {
      const { runner, close } = await openResident();
      return { measure: () => timed(async () => expect((await runner.exec('1')).stdout, '')), close };
    },
  },
  {
    name: 'resident, warm cell("1")',
    what: 'a cell in a live runner',
    open: async () => {
      const { runner, close } = await openResident();
      return { measure: () => timed(async () => expect((await runner.cell('1')).text, '1')), close };
    },
  },
  {
    name: 'resident, rich cell',
    what: 'a cell whose result has text, HTML and JSON',
    open: async () => {
      const { runner, close } = await openResident();
      const measure = () =>
        timed(async () => {
          const number = ++numbers;
          const [result] = (await runner.cell(RICH(number))).results;
          expect(`${result?.data['text/plain']}${result?.data['text/html']}`, `${number}<b>`);
        });
      return { measure, close };
    },
  },
  {
    name: 'Pyodide, cold print',
    what: "loadPyodide() and a first program in the app's process; no other process",
    isFloor: true,
    isSlow: true,
    open: ({ cache }) => openPyodide(cache),
  },
];

/** Measures all kinds in turns. A kind that fails has a reason and no figures. */
export async function measureStarts(facts: StartFacts, only: string, samples: number): Promise<StartResult[]> {
  const rows = kinds
    .filter(({ name, isSlow }) => name.includes(only) && (!isSlow || facts.cache !== ''))
    .map((kind) => ({
      kind,
      samples: [] as number[],
      probe: undefined as Probe | undefined,
      error: undefined as string | undefined,
    }));
  for (const row of rows) {
    try {
      row.probe = await row.kind.open(facts);
    } catch (error) {
      row.error = reason(error);
    }
  }
  for (let round = -WARM_UP; round < samples; round++) {
    for (const row of rows) {
      if (row.probe === undefined || row.error !== undefined) continue;
      if (row.kind.isSlow && (round < 0 || round >= SLOW_SAMPLES)) continue;
      try {
        const time = await row.probe.measure();
        if (round >= 0) row.samples.push(time);
      } catch (error) {
        row.error = reason(error);
      }
    }
  }
  for (const { probe } of rows) await probe?.close?.();
  return rows.map(({ kind: { name, what, isFloor = false }, samples: times, error }) => {
    const result = { name, what, isFloor, times: error === undefined ? summarize(times) : null };
    return error === undefined ? result : { ...result, error };
  });
}
