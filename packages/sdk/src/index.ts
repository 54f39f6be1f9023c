// The public API of `coldframe`: exports only.

export type {
  BindingContext,
  BindingDefinition,
  BindingExample,
  Bindings,
  JsonSchema,
  StandardSchema,
} from './bindings/types.js';
export type { FileType, SidecarResourceSnapshot } from './channel/messages.js';
export type { BindingErrorCode, BindingFacts, ErrorCode, ErrorFacts, FailureCode, FileErrorCode } from './errors/codes.js';
export { ColdframeError, type ColdframeErrorOf, type Failure, isColdframeError } from './errors/error.js';
export { createMemoryFileSystem, type MemoryFileSystemOptions } from './file-systems/memory.js';
export type { Eventually, FileSystem, FileSystemEntry, FileSystemMount, FileSystemStat } from './file-systems/types.js';
export type { ExposedPort } from './network/exposed-port.js';
export type { GuestResponse } from './network/fetch.js';
export type { GuestStream } from './network/guest-stream.js';
export type { GuestListener } from './network/listeners.js';
export type { IdleOptions } from './options/idle.js';
export type { LimitName, Limits, LimitWarning, LimitWarningListener } from './options/limits.js';
export type {
  ConnectOptions,
  ExposePortOptions,
  FetchOptions,
  ListenerQuery,
  WaitForListenerOptions,
} from './options/network.js';
export type {
  FsPermissionRule,
  PatternPermissionRule,
  PermissionEvent,
  PermissionMode,
  PermissionOperations,
  PermissionRules,
  PermissionScope,
  PermissionsPolicy,
} from './options/permission-types.js';
export type { AcquireOptions, PoolDisposeOptions, RuntimePoolOptions } from './options/pool.js';
export type {
  AttachOptions,
  CloneOptions,
  QuietOptions,
  SnapshotOptions,
  SnapshotStoreOptions,
  TenantOptions,
} from './options/snapshots.js';
export type {
  BootPhase,
  BootTiming,
  BootTimingListener,
  CommandOptions,
  Env,
  EvaluationOptions,
  Mount,
  NodeRuntimeOptions,
  OutputHandler,
  ResidentExecOptions,
  ResidentRunnerOptions,
  RunOptions,
  SidecarEmbeddedOptions,
  SidecarOptions,
  SidecarSpawnOptions,
  SignalName,
} from './options/types.js';
export type { PoolLease } from './pool/lease.js';
export { RuntimePool } from './pool/runtime-pool.js';
export type { PoolStats, PoolTenantStats } from './pool/stats.js';
export type { ResidentRunner } from './runner/resident-runner.js';
export type { ExportTarOptions, ImportTarOptions, TarSource } from './runtime/archives.js';
export type { ReadStreamOptions, WriteStreamOptions } from './runtime/file-streams.js';
export type { DirectoryEntry, FileStatus } from './runtime/files.js';
export type { GuestProcess } from './runtime/guest-process.js';
export { NodeRuntime } from './runtime/node-runtime.js';
export type { LostListener, PermissionListener } from './runtime/permissions.js';
export type { ProcessEntry } from './runtime/processes.js';
export type { CountedLimit, LimitUse, ResourceSnapshot } from './runtime/resources.js';
export type { ExecResult, RunResult } from './runtime/result.js';
export type { RuntimeState } from './runtime/snapshot-methods.js';
export type { FileChange, WatchOptions } from './runtime/watch.js';
export { Sidecar } from './sidecar/sidecar.js';
export type { Snapshot } from './snapshots/snapshot.js';
export type { DamagedSnapshot, SnapshotList, SnapshotStore } from './snapshots/store.js';
