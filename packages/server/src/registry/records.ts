// The records of the registry. Times are milliseconds since 1970. Next: `registry.ts`.

import type { NetworkConfig } from '../sandboxes/network.js';

/** The states of a sandbox that the registry knows. */
export type SandboxState = 'running' | 'paused';

/** The content of a pause: the files and the memory, or the files alone. */
export type PauseMode = 'full' | 'filesystem';

/** The treatment of a sandbox when its time is over. */
export interface Lifecycle {
  /** Whether the sandbox is paused instead of ended. */
  autoPause: boolean;
  /** Whether a pause keeps the memory of the programs, or only the files. */
  autoPauseMemory: boolean;
  /** Whether a request to a port of a paused sandbox resumes the sandbox. */
  autoResume: boolean;
}

/** A volume in the tree of a sandbox. */
export interface VolumeMount {
  /** The name of the volume. */
  name: string;
  /** The absolute path of the mount. */
  path: string;
}

/** A sandbox. */
export interface SandboxRecord extends Lifecycle {
  id: string;
  /** The owner, which is the tenant of the runtime and of its snapshots. */
  tenant: string;
  templateId: string;
  /** The build of the template that the sandbox started from. `base` has no builds. */
  buildId: string | undefined;
  /** The name of the template that the client gave, if the client gave a name. */
  alias: string | undefined;
  state: SandboxState;
  metadata: Record<string, string>;
  /** The environment of all programs of the sandbox. */
  env: Record<string, string>;
  /** The user of programs that name no user. */
  user: string;
  /** The working directory of programs that name no directory, or `undefined` for the home. */
  workdir: string | undefined;
  startedAt: number;
  endAt: number;
  /** The time from the last call that set the end to the end. */
  timeoutMs: number;
  /** The newest token of all calls of programs and files. */
  accessToken: string;
  /** The newest token of requests to servers in the sandbox, if these requests need a token. */
  trafficToken: string | undefined;
  /** Tokens with a smaller epoch are revoked. @default 0 */
  tokenEpoch?: number;
  /** The client's wish for connections out of the sandbox. */
  network: NetworkConfig;
  volumeMounts: readonly VolumeMount[];
  /** The content of the last pause, for a paused sandbox. */
  pauseMode: PauseMode | undefined;
  /**
   * For a paused sandbox: the id of the snapshot in the SDK's store, or `undefined` if the sandbox
   * is frozen in memory.
   */
  snapshot: string | undefined;
  /** Metadata of files by path, for a paused sandbox. */
  fileMetadata: Record<string, Record<string, string>>;
  /** For a paused sandbox: the time from the pause to the end that the sandbox had. */
  leftMs?: number;
  /**
   * The number of the server's start that runs the sandbox. A running sandbox of an earlier start
   * has ended with that server.
   */
  epoch: number;
}

/** The reason why a sandbox has ended. */
export type EndReason = 'killed' | 'timeout' | 'restart';

/** A sandbox that has ended. */
export interface EndedRecord {
  id: string;
  tenant: string;
  reason: EndReason;
  at: number;
}

/** A template that a client has built, or a snapshot of a sandbox. */
export interface TemplateRecord {
  id: string;
  tenant: string;
  kind: 'template' | 'snapshot';
  /** The name, or `undefined` for a snapshot without a name. */
  name: string | undefined;
  /** The sandbox of a snapshot. */
  sandboxId: string | undefined;
  createdAt: number;
  updatedAt: number;
}

/** The states of a build. */
export type BuildState = 'waiting' | 'building' | 'ready' | 'error';

/** The reason why a build failed. */
export interface BuildFailureRecord {
  message: string;
  /** The number of the failed step, `base` or `finalize`. */
  step: string | undefined;
}

/** One build of a template. */
export interface BuildRecord {
  id: string;
  templateId: string;
  state: BuildState;
  /** The id of the snapshot in the SDK's store, for a build that is ready. */
  snapshot: string | undefined;
  /** Environment of all programs of sandboxes from the build. */
  env: Record<string, string>;
  /** The user of programs that name no user. */
  user: string;
  /** The working directory of programs that name no directory, or `undefined` for the home. */
  workdir: string | undefined;
  /** Metadata of files by path. */
  fileMetadata: Record<string, Record<string, string>>;
  /** Whether a client has sent the snapshot, whose limits then do not apply. @default false */
  isImported?: boolean;
  failure: BuildFailureRecord | undefined;
  createdAt: number;
  finishedAt: number | undefined;
}

/** A name of a build below the name of its template. */
export interface TagRecord {
  tag: string;
  buildId: string;
  createdAt: number;
}

/** The files of a step that a client has uploaded. */
export interface UploadRecord {
  tenant: string;
  /** The client's digest of the files. */
  hash: string;
  /** The digest of the archive among the blobs. */
  digest: string;
  at: number;
}

/** A step of a build whose result is kept. */
export interface StepRecord {
  /** The digest of the step and all steps before it. */
  key: string;
  tenant: string;
  snapshot: string;
  usedAt: number;
}

/** Something that happened to a sandbox. */
export interface EventRecord {
  /** The place in the order of all events of the server. */
  sequence: number;
  id: string;
  tenant: string;
  /** The type, such as `sandbox.lifecycle.created`. */
  type: string;
  sandboxId: string;
  templateId: string;
  buildId: string | undefined;
  /** The number of the server's start. */
  epoch: number;
  at: number;
  data: Record<string, unknown>;
}

/** A URL that receives events. */
export interface WebhookRecord {
  id: string;
  tenant: string;
  name: string;
  url: string;
  /** The types of events. An empty list selects all types. */
  events: readonly string[];
  /** The key of the signatures. */
  secret: string;
  enabled: boolean;
  createdAt: number;
}

/** A file system that outlives sandboxes. */
export interface VolumeRecord {
  id: string;
  tenant: string;
  name: string;
  /** The token of all calls about the content. */
  token: string;
  createdAt: number;
}

/** A secret. The value is encrypted. */
export interface SecretRecord {
  id: string;
  tenant: string;
  name: string;
  version: number;
  sealed: Uint8Array;
  metadata: Record<string, string>;
  createdAt: number;
  updatedAt: number;
}

/** The operations that a key allows. */
export type Scope = 'read' | 'exec' | 'admin' | 'operator';

/** A key of the API that an administrator has made. */
export interface KeyRecord {
  id: string;
  tenant: string;
  name: string;
  /** The SHA-256 of the key, in hex. */
  digest: string;
  /** The first and the last characters of the key, for lists. */
  mask: { prefix: string; suffix: string; length: number };
  scopes: readonly Scope[];
  createdAt: number;
}
