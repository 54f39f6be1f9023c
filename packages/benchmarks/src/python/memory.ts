// The private memory of live runtimes with Python, measured as for JavaScript: plain runtimes after
// one program, and resident runners after one evaluation.

import { NodeRuntime, Sidecar } from 'coldframe';
import { type DensityResult, type LiveProvisioner, measureDensity } from '../coldstart/density.js';
import type { Executor } from '../sandbox/executor.js';

const PYTHON = { language: 'python' } as const;

/** Turns a snippet of `makeSnippet` into Python, which prints the same text. */
export const inPython = (code: string): string => code.replace(/^console\.log/, 'print').replace(/;$/, '');

const provision = (start: (runtime: NodeRuntime) => Promise<Executor>) => async (): Promise<LiveProvisioner> => {
  const sidecar = await Sidecar.spawn();
  return {
    pid: sidecar.pid,
    start: async () => start(await NodeRuntime.create({ sidecar })),
    close: () => sidecar.dispose(),
  };
};

export const memoryKinds: readonly { name: string; open(): Promise<LiveProvisioner> }[] = [
  {
    name: 'runtime after one program',
    open: provision(async (runtime) => ({
      exec: (code) => runtime.exec(inPython(code), PYTHON),
      dispose: () => runtime.dispose(),
    })),
  },
  {
    name: 'resident runner',
    open: provision(async (runtime) => {
      const runner = await runtime.createResidentRunner(PYTHON);
      return { exec: (code) => runner.exec(inPython(code)), dispose: () => runtime.dispose() };
    }),
  },
];

export const measureMemory = (kind: (typeof memoryKinds)[number], count: number): Promise<DensityResult> =>
  measureDensity(kind.name, count, kind.open);
