// The types in the signatures of `NodeRuntime`, in one place, because the class has one method for
// each call of every area. Next: `node-runtime.ts`.

export type { DirectoryEntry, FileStatus } from '../files/contents.js';
export type { UserAttributes } from '../files/user-attributes.js';
export type { FileChange, FileEvent, FileWatch } from '../files/watch.js';
export type { ExposedPort } from '../network/exposed-port.js';
export type { GuestResponse } from '../network/fetch.js';
export type { GuestStream } from '../network/guest-stream.js';
export type { GuestListener } from '../network/listeners.js';
export type { Bindings } from '../options/bindings.js';
export type { Owner } from '../options/owner.js';
export type { CompletePolicy, PermissionsPolicy } from '../options/permissions.js';
export type { AttachOptions, CommandOptions, ExecFilesOptions, ResidentRunnerOptions, RunOptions } from '../options/programs.js';
export type { CloneOptions, PauseOptions, ResumeOptions, SingleCloneOptions, SnapshotOptions } from '../options/snapshots.js';
export type { OpenTerminalOptions } from '../options/terminals.js';
export type { OutsideNetwork } from '../outside/runtime-outside.js';
export type { LostListener, PermissionListener } from '../permissions/runtime-permissions.js';
export type { GuestProcess } from '../programs/guest-process.js';
export type { ExecResult, RunResult } from '../programs/result.js';
export type { ProcessEntry } from '../programs/runtime-programs.js';
export type { Terminal } from '../programs/terminal.js';
export type { ResidentRunner } from '../runner/resident-runner.js';
export type { RuntimeSecrets } from '../secrets/runtime-secrets.js';
export type { Snapshot } from '../sidecar/snapshot.js';
export type { SnapshotStore } from '../sidecar/snapshot-store.js';
export type { Wall } from '../sidecar/walls.js';
export type { ProgramFiles } from './exec-files.js';
export type { NodeRuntimeOptions } from './options.js';
export type { RuntimeState } from './parts.js';
export type { ResourceSnapshot } from './resources.js';
