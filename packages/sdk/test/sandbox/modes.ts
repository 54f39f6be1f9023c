// Defines the four modes of provisioning a runtime behind one interface. Tests run in each mode.

import { NodeRuntime, type NodeRuntimeOptions, Sidecar } from '../../src/index.js';

/** A source of runtimes. */
export interface Provisioning {
  /** Makes a runtime. The caller disposes the runtime. */
  create(options?: NodeRuntimeOptions): Promise<NodeRuntime>;
  /** Ends the sidecar that the runtimes share. */
  close(): Promise<void>;
}

export interface Mode {
  name: string;
  open(): Promise<Provisioning>;
}

const provisioningOf = async (sidecar: Sidecar): Promise<Provisioning> => ({
  create: (options) => NodeRuntime.create({ ...options, sidecar }),
  close: () => sidecar.dispose(),
});

export const MODES: Mode[] = [
  { name: 'owned', open: async () => ({ create: (options) => NodeRuntime.create(options), close: async () => {} }) },
  { name: 'shared', open: async () => provisioningOf(await Sidecar.spawn()) },
  { name: 'embedded', open: async () => provisioningOf(await Sidecar.embedded()) },
  { name: 'embedded inline', open: async () => provisioningOf(await Sidecar.embedded({ inlineBudgetMs: 5 })) },
];

/** Runs `work` with a provisioning of `mode`, and closes the provisioning. */
export async function withMode<T>(mode: Mode, work: (provisioning: Provisioning) => Promise<T>): Promise<T> {
  const provisioning = await mode.open();
  try {
    return await work(provisioning);
  } finally {
    await provisioning.close();
  }
}

/** Runs `work` with a runtime of `mode`, and disposes the runtime. */
export async function withRuntime<T>(
  mode: Mode,
  options: NodeRuntimeOptions,
  work: (runtime: NodeRuntime) => Promise<T>,
): Promise<T> {
  return withMode(mode, async (provisioning) => {
    const runtime = await provisioning.create(options);
    try {
      return await work(runtime);
    } finally {
      await runtime.dispose();
    }
  });
}
