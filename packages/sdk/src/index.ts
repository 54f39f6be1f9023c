// The public API of `coldframe`. This module only exports.

export type { BindingErrorCode, BindingFacts, ErrorCode, ErrorFacts, FailureCode, FileErrorCode } from './errors/codes.js';
export { ColdframeError, type ColdframeErrorOf, type ErrorJson, type Failure, isColdframeError } from './errors/error.js';
export { createMemoryFileSystem, type MemoryFileSystemOptions } from './file-systems/memory.js';
export type { DirectoryEntry, FileStatus } from './files/contents.js';
export type { UserAttributes } from './files/user-attributes.js';
export type { FileChange, FileEvent, FileWatch } from './files/watch.js';
export { createGateway, type Gateway } from './gateway/gateway.js';
export type { ExposedPort } from './network/exposed-port.js';
export type { GuestResponse } from './network/fetch.js';
export type { GuestStream } from './network/guest-stream.js';
export type { GuestListener } from './network/listeners.js';
export type {
  BindingContext,
  BindingDefinition,
  BindingExample,
  Bindings,
  JsonSchema,
  StandardSchema,
} from './options/bindings.js';
export type { BootPhase, BootTiming, BootTimingListener } from './options/boot-timing.js';
export type { Eventually, FileSystem, FileSystemEntry, FileSystemMount, FileSystemStat } from './options/file-system.js';
export type {
  ExportTarOptions,
  ImportTarOptions,
  ReadStreamOptions,
  TarSource,
  WatchOptions,
  WriteStreamOptions,
} from './options/files.js';
export type { GatewayOptions, GatewayRefusal, GatewayRuntime, GatewayTarget } from './options/gateway.js';
export type { IdleOptions } from './options/idle.js';
export type { LimitName, Limits, LimitWarning, LimitWarningListener, ProgramLimits } from './options/limits.js';
export type { Mount } from './options/mounts.js';
export type {
  AwaitedProgram,
  ConnectOptions,
  ExposePortOptions,
  FetchOptions,
  ListenerQuery,
  WaitForListenerOptions,
} from './options/network.js';
export type {
  NetworkCa,
  NetworkChange,
  NetworkCheckOptions,
  NetworkDns,
  NetworkEventType,
  NetworkHttpRule,
  NetworkLimits,
  NetworkOptions,
  NetworkUpdateOptions,
  RequestHandler,
} from './options/outside.js';
export type { Owner, OwnerIds } from './options/owner.js';
export type {
  FsPermissionRule,
  PatternPermissionRule,
  PermissionEvent,
  PermissionMode,
  PermissionOperations,
  PermissionRules,
  PermissionScope,
  PermissionsPolicy,
} from './options/permissions.js';
export type { AcquireOptions, PoolDisposeOptions } from './options/pool.js';
export type {
  Membership,
  MembershipOptions,
  NetworkCreateOptions,
  NetworkRule,
  RuntimeNetworkOptions,
} from './options/private-network.js';
export type {
  AttachOptions,
  CellOptions,
  CommandOptions,
  Env,
  EvaluationOptions,
  ExecFilesOptions,
  OutputHandler,
  ProgramLanguage,
  ResidentExecOptions,
  ResidentRunnerOptions,
  RunOptions,
  SignalName,
} from './options/programs.js';
export type {
  AwsCredentials,
  ExpiringSecret,
  PlaceholderOptions,
  SecretOptions,
  SecretSource,
  SecretsOptions,
  SecretText,
  SigningSecretOptions,
} from './options/secrets.js';
export type { SidecarEmbeddedOptions, SidecarOptions, SidecarSpawnOptions, WallMode } from './options/sidecar.js';
export type {
  CloneOptions,
  PauseOptions,
  QuietOptions,
  ResumeOptions,
  SingleCloneOptions,
  SnapshotOptions,
  SnapshotStoreOptions,
  TenantOptions,
} from './options/snapshots.js';
export type { OpenTerminalOptions } from './options/terminals.js';
export type {
  NetworkCloseEvent,
  NetworkDeniedEvent,
  NetworkDnsEvent,
  NetworkEvents,
  NetworkLimitEvent,
  NetworkLostEvent,
  NetworkOpenEvent,
  NetworkRequestEvent,
} from './outside/event-listeners.js';
export type { NetworkFlow, NetworkVerdict, OutsideNetwork } from './outside/runtime-outside.js';
export type { LostListener, PermissionListener } from './permissions/runtime-permissions.js';
export type { PoolLease } from './pool/lease.js';
export type { RuntimePoolOptions } from './pool/options.js';
export { RuntimePool } from './pool/runtime-pool.js';
export type { PoolStats, PoolTenantStats } from './pool/stats.js';
export type { MemberCloseEvent, MemberDeniedEvent, MemberEvents, MemberOpenEvent } from './private-networks/member-events.js';
export type { MemberFlow, NetworkMember, NetworkRuntime } from './private-networks/network.js';
export { Network } from './private-networks/network.js';
export type { GuestProcess } from './programs/guest-process.js';
export type { ExecResult, ExecTimings, RunResult } from './programs/result.js';
export type { ProcessEntry } from './programs/runtime-programs.js';
export type { Terminal } from './programs/terminal.js';
export type { FileType, SidecarResources as SidecarResourceSnapshot } from './protocol/generated/messages.js';
export type { CellError, CellOutput, CellResult } from './runner/cell-result.js';
export type { ResidentRunner } from './runner/resident-runner.js';
export type { ProgramFiles } from './runtime/exec-files.js';
export { NodeRuntime } from './runtime/node-runtime.js';
export type { NodeRuntimeOptions } from './runtime/options.js';
export type { RuntimeState } from './runtime/parts.js';
export type { CountedLimit, LimitUse, ResourceSnapshot } from './runtime/resources.js';
export type { RuntimeSecrets, SecretInfo } from './secrets/runtime-secrets.js';
export { Sidecar } from './sidecar/sidecar.js';
export type { Snapshot } from './sidecar/snapshot.js';
export type { DamagedSnapshot, SnapshotList, SnapshotStore } from './sidecar/snapshot-store.js';
export type { Wall } from './sidecar/walls.js';
