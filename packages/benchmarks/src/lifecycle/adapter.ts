// The real boxes: a sidecar process, and runtimes in it. This file is the only one here that knows how the SDK saves and copies.

import { NodeRuntime, type ResidentRunner, Sidecar, type Snapshot } from 'coldframe';
import { killSidecar } from '../machine/kill-sidecar.js';
import type { Box, BoxOptions, Host, OpenHost, Saved } from './box.js';
import { MEGABYTE } from './state.js';
import { startTicker } from './ticker.js';

/** A program's own memory by default, and what the engine needs beside the buffers. */
const ORDINARY_MB = 128;

class SdkSaved implements Saved {
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

class SdkBox implements Box {
  readonly #runtime: NodeRuntime;
  #runner: ResidentRunner | undefined;

  constructor(runtime: NodeRuntime, runner?: ResidentRunner) {
    this.#runtime = runtime;
    this.#runner = runner;
  }

  async ask(code: string) {
    this.#runner ??= (await this.#runtime.residentRunners())[0];
    if (!this.#runner) throw new Error('no runner lives in it');
    return this.#runner.exec(code);
  }

  exec = (code: string) => this.#runtime.exec(code);

  snapshot = async (store: 'memory' | 'disk') => new SdkSaved(await this.#runtime.snapshot({ store }));

  rollback = (saved: Saved) => this.#runtime.rollback(saved instanceof SdkSaved ? saved.snapshot : saved.id);

  clone = async (count: number) => (await this.#runtime.clone(count)).map((runtime) => new SdkBox(runtime));

  pause = async () => void (await this.#runtime.pause());

  resume = () => this.#runtime.resume();

  startTicker = () => startTicker(this.#runtime);

  dispose = () => this.#runtime.dispose();
}

class SdkHost implements Host {
  readonly #sidecar: Sidecar;

  constructor(sidecar: Sidecar) {
    this.#sidecar = sidecar;
  }

  get pid(): number {
    return this.#sidecar.pid;
  }

  async create({ runner, megabytes = 0, fileMegabytes = 0, files }: BoxOptions): Promise<Box> {
    const limits = {
      ...(megabytes > 0 && { memoryBytes: (ORDINARY_MB + megabytes) * MEGABYTE }),
      ...(fileMegabytes > 0 && { filesystemBytes: (ORDINARY_MB + fileMegabytes) * MEGABYTE }),
    };
    const runtime = await NodeRuntime.create({
      sidecar: this.#sidecar,
      limits,
      ...(files && { files }),
    });
    return new SdkBox(runtime, runner ? await runtime.createResidentRunner() : undefined);
  }

  async restore(saved: Saved | string): Promise<Box> {
    const snapshot = saved instanceof SdkSaved ? saved.snapshot : typeof saved === 'string' ? saved : saved.id;
    return new SdkBox(await NodeRuntime.create({ sidecar: this.#sidecar, snapshot }));
  }

  remove = (saved: Saved) => this.#sidecar.snapshots.delete(saved.id);

  async held() {
    const { runtimes, processes } = await this.#sidecar.getResourceSnapshot();
    return { runtimes, processes };
  }

  kill = (): Promise<void> => killSidecar(this.#sidecar);

  close = () => this.#sidecar.dispose();
}

export const openSidecar: OpenHost = async (directory) => new SdkHost(await Sidecar.spawn({ snapshots: { directory } }));
