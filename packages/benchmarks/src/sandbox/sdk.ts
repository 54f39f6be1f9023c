// Implements the measured runtimes with the SDK. The lifecycle and density benchmarks call the SDK
// only in this file and in the modules that this file imports.

import { NodeRuntime, type ResidentRunner, Sidecar, type Snapshot } from 'coldframe';
import { killSidecar } from './kill-sidecar.js';
import type { MeasuredRuntime, MeasuredSidecar, MeasuredSnapshot, OpenSidecar, RuntimeOptions } from './runtime.js';
import { startTicker } from './ticker.js';

const MEGABYTE = 2 ** 20;

/**
 * Megabytes that a limit of memory or of files has beyond the size of the guest's data. The engine
 * and the program need this space.
 */
const ORDINARY_MB = 128;

class SdkSnapshot implements MeasuredSnapshot {
  readonly snapshot: Snapshot;

  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot;
  }

  get id(): string {
    return this.snapshot.id;
  }

  get bytes(): number {
    return this.snapshot.size;
  }
}

class SdkRuntime implements MeasuredRuntime {
  readonly #runtime: NodeRuntime;
  #runner: ResidentRunner | undefined;

  constructor(runtime: NodeRuntime, runner?: ResidentRunner) {
    this.#runtime = runtime;
    this.#runner = runner;
  }

  async evaluate(code: string) {
    this.#runner ??= (await this.#runtime.residentRunners())[0];
    if (!this.#runner) throw new Error('the runtime has no resident runner');
    return this.#runner.exec(code);
  }

  exec = (code: string) => this.#runtime.exec(code);

  snapshot = async (store: 'memory' | 'disk') => new SdkSnapshot(await this.#runtime.snapshot({ store }));

  rollback = (snapshot: MeasuredSnapshot) =>
    this.#runtime.rollback(snapshot instanceof SdkSnapshot ? snapshot.snapshot : snapshot.id);

  clone = async (count: number) => (await this.#runtime.clone(count)).map((runtime) => new SdkRuntime(runtime));

  pause = async () => void (await this.#runtime.pause());

  resume = () => this.#runtime.resume();

  startTicker = () => startTicker(this.#runtime);

  dispose = () => this.#runtime.dispose();
}

class SdkSidecar implements MeasuredSidecar {
  readonly #sidecar: Sidecar;

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
  }

  get pid(): number {
    return this.#sidecar.pid;
  }

  async create({ runner, megabytes = 0, fileMegabytes = 0, files }: RuntimeOptions): Promise<MeasuredRuntime> {
    const limits = {
      ...(megabytes > 0 && { memoryBytes: (ORDINARY_MB + megabytes) * MEGABYTE }),
      ...(fileMegabytes > 0 && { filesystemBytes: (ORDINARY_MB + fileMegabytes) * MEGABYTE }),
    };
    const runtime = await NodeRuntime.create({
      sidecar: this.#sidecar,
      limits,
      ...(files && { files }),
    });
    return new SdkRuntime(runtime, runner ? await runtime.createResidentRunner() : undefined);
  }

  async restore(source: MeasuredSnapshot | string): Promise<MeasuredRuntime> {
    const snapshot = source instanceof SdkSnapshot ? source.snapshot : typeof source === 'string' ? source : source.id;
    return new SdkRuntime(await NodeRuntime.create({ sidecar: this.#sidecar, snapshot }));
  }

  deleteSnapshot = (snapshot: MeasuredSnapshot) => this.#sidecar.snapshots.delete(snapshot.id);

  async held() {
    const { runtimes, processes } = await this.#sidecar.getResourceSnapshot();
    return { runtimes, processes };
  }

  kill = (): Promise<void> => killSidecar(this.#sidecar);

  close = () => this.#sidecar.dispose();
}

export const openSidecar: OpenSidecar = async (directory) => new SdkSidecar(await Sidecar.spawn({ snapshots: { directory } }));
