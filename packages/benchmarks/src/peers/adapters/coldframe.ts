// The modes of Coldframe as peers. The output of the program is the value of the expression.

import { NodeRuntime, Sidecar } from 'coldframe';
import type { ExecResult } from '../../sandbox/snippet.js';
import type { Instance, OpenAdapter } from '../adapter.js';

const instanceOf = (exec: (code: string) => Promise<ExecResult>, runtime: NodeRuntime): Instance => ({
  evaluate: async (expression) => {
    const { stdout, exitCode } = await exec(`console.log(${expression});`);
    if (exitCode !== 0) throw new Error(`exit code ${exitCode}`);
    return stdout.trimEnd();
  },
  dispose: () => runtime.dispose(),
});

const startRuntime = async (sidecar?: Sidecar): Promise<Instance> => {
  const runtime = await NodeRuntime.create(sidecar ? { sidecar } : {});
  return instanceOf((code) => runtime.exec(code), runtime);
};

export const openOwned: OpenAdapter = async () => ({ start: () => startRuntime() });

const openIn =
  (open: () => Promise<Sidecar>, start: (sidecar: Sidecar) => Promise<Instance>): OpenAdapter =>
  async () => {
    const sidecar = await open();
    return { start: () => start(sidecar), close: () => sidecar.dispose() };
  };

export const openShared = openIn(() => Sidecar.spawn(), startRuntime);
export const openEmbedded = openIn(() => Sidecar.embedded(), startRuntime);
export const openResident = openIn(
  () => Sidecar.spawn(),
  async (sidecar) => {
    const runtime = await NodeRuntime.create({ sidecar });
    const runner = await runtime.createResidentRunner();
    return instanceOf((code) => runner.exec(code), runtime);
  },
);
