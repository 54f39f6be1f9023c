// Uses the package as an app with `strict`, `exactOptionalPropertyTypes` and `skipLibCheck: false`
// does. Each option that may be omitted must also accept `undefined`.

import {
  type AcquireOptions,
  type AttachOptions,
  type BindingDefinition,
  type BindingExample,
  type CloneOptions,
  type CommandOptions,
  type ConnectOptions,
  createMemoryFileSystem,
  type EvaluationOptions,
  type ExecResult,
  type ExportTarOptions,
  type ExposePortOptions,
  type FetchOptions,
  type FileSystemMount,
  type FileSystemStat,
  type FsPermissionRule,
  type IdleOptions,
  type ImportTarOptions,
  type Limits,
  type ListenerQuery,
  type MemoryFileSystemOptions,
  type Mount,
  NodeRuntime,
  type NodeRuntimeOptions,
  type PatternPermissionRule,
  type PermissionMode,
  type PermissionRules,
  type PermissionsPolicy,
  type PoolDisposeOptions,
  type QuietOptions,
  type ReadStreamOptions,
  type ResidentExecOptions,
  type ResidentRunnerOptions,
  type RunOptions,
  RuntimePool,
  type RuntimePoolOptions,
  Sidecar,
  type SidecarEmbeddedOptions,
  type SidecarOptions,
  type SidecarSpawnOptions,
  type SnapshotOptions,
  type SnapshotStoreOptions,
  type TenantOptions,
  type WaitForListenerOptions,
  type WatchOptions,
  type WriteStreamOptions,
} from 'coldframe';

/** The names of the properties that may be omitted. */
type OptionalName<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? Name : never }[keyof T];

/** The names of the optional properties that refuse `undefined`. */
type Refusing<T> = {
  [Name in OptionalName<T>]: { [N in Name]: undefined } extends Pick<T, Name> ? never : Name;
}[OptionalName<T>];

/** Compiles only if `T` is `never`. */
function expectNever<T extends never>(): T | undefined {
  return undefined;
}

expectNever<Refusing<AcquireOptions>>();
expectNever<Refusing<AttachOptions>>();
expectNever<Refusing<BindingDefinition>>();
expectNever<Refusing<BindingExample>>();
expectNever<Refusing<CloneOptions>>();
expectNever<Refusing<CommandOptions>>();
expectNever<Refusing<ConnectOptions>>();
expectNever<Refusing<EvaluationOptions>>();
expectNever<Refusing<ExportTarOptions>>();
expectNever<Refusing<ExposePortOptions>>();
expectNever<Refusing<FetchOptions>>();
expectNever<Refusing<FileSystemMount>>();
expectNever<Refusing<FileSystemStat>>();
expectNever<Refusing<FsPermissionRule>>();
expectNever<Refusing<IdleOptions>>();
expectNever<Refusing<ImportTarOptions>>();
expectNever<Refusing<Limits>>();
expectNever<Refusing<ListenerQuery>>();
expectNever<Refusing<MemoryFileSystemOptions>>();
expectNever<Refusing<Mount>>();
expectNever<Refusing<NodeRuntimeOptions>>();
expectNever<Refusing<PatternPermissionRule<'network'>>>();
expectNever<Refusing<Exclude<PermissionRules<FsPermissionRule>, PermissionMode>>>();
expectNever<Refusing<PermissionsPolicy>>();
expectNever<Refusing<PoolDisposeOptions>>();
expectNever<Refusing<QuietOptions>>();
expectNever<Refusing<ReadStreamOptions>>();
expectNever<Refusing<ResidentExecOptions>>();
expectNever<Refusing<ResidentRunnerOptions>>();
expectNever<Refusing<RunOptions>>();
expectNever<Refusing<RuntimePoolOptions>>();
expectNever<Refusing<SidecarEmbeddedOptions>>();
expectNever<Refusing<SidecarOptions>>();
expectNever<Refusing<SidecarSpawnOptions>>();
expectNever<Refusing<SnapshotOptions>>();
expectNever<Refusing<SnapshotStoreOptions>>();
expectNever<Refusing<TenantOptions>>();
expectNever<Refusing<WaitForListenerOptions>>();
expectNever<Refusing<WatchOptions>>();
expectNever<Refusing<WriteStreamOptions>>();
// @ts-expect-error the check finds an optional property that refuses `undefined`
expectNever<Refusing<{ a?: number; b?: number | undefined }>>();

/** Options that an app computes and passes on. */
interface Request {
  readonly timeout?: number;
  readonly signal: AbortSignal | undefined;
  readonly sidecar: Sidecar | undefined;
}

export async function run(code: string, { timeout, signal, sidecar }: Request): Promise<ExecResult> {
  const runtime = await NodeRuntime.create({ sidecar, limits: { cpuMs: timeout } });
  try {
    const { fs }: { readonly fs: PermissionRules<FsPermissionRule> } = runtime.permissions;
    await runtime.setPermissions({ fs, network: undefined });
    return await runtime.exec(code, { timeout, signal });
  } finally {
    await runtime.dispose();
  }
}

export const pool = (size: number, tenant: string | undefined): RuntimePool => new RuntimePool({ size, tenant });

export const mount: FileSystemMount = { guestPath: '/data', fileSystem: createMemoryFileSystem(), readOnly: undefined };

export const spawn = (workers: number | undefined): Promise<Sidecar> => Sidecar.spawn({ workers });
