// The part of the SDK that saves and copies, as types, until the SDK on this branch has it.

import type * as sdk from 'coldframe';

export interface Snapshot {
  readonly id: string;
  readonly size: number;
}

type Saving = 'snapshot' | 'rollback' | 'clone' | 'pause' | 'resume' | 'residentRunners';

export interface SavingRuntime extends Omit<sdk.NodeRuntime, Saving> {
  snapshot(options: { store: 'memory' | 'disk' }): Promise<Snapshot>;
  rollback(snapshot: Snapshot | string): Promise<void>;
  clone(count: number): Promise<SavingRuntime[]>;
  pause(): Promise<Snapshot>;
  resume(): Promise<void>;
  residentRunners(): Promise<sdk.ResidentRunner[]>;
}

export interface SavingSidecar extends Omit<sdk.Sidecar, 'snapshots'> {
  readonly snapshots: { delete(id: string): Promise<unknown> };
}

export interface SnapshotSdk {
  NodeRuntime: {
    create(
      options: Omit<sdk.NodeRuntimeOptions, 'snapshot' | 'sidecar'> & { sidecar: SavingSidecar; snapshot?: Snapshot | string },
    ): Promise<SavingRuntime>;
  };
  Sidecar: { spawn(options: { snapshots: { directory: string } }): Promise<SavingSidecar> };
}
