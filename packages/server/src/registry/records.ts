// The records of the registry. Next: `registry.ts`.

/** The states of a sandbox that the registry knows. */
export type SandboxState = 'running' | 'paused';

/** The treatment of a sandbox when its time is over. */
export interface Lifecycle {
  /** Whether the sandbox is paused instead of ended. */
  autoPause: boolean;
  /** Whether a pause keeps the memory of the programs, or only the files. */
  autoPauseMemory: boolean;
  /** Whether a request to a port of a paused sandbox resumes the sandbox. */
  autoResume: boolean;
}

/** A sandbox. Times are milliseconds since 1970. */
export interface SandboxRecord extends Lifecycle {
  id: string;
  /** The owner, which is the tenant of the runtime and of its snapshots. */
  tenant: string;
  templateId: string;
  /** The name of the template that the client gave, if the client gave a name. */
  alias: string | undefined;
  state: SandboxState;
  metadata: Record<string, string>;
  /** The environment of all programs of the sandbox. */
  env: Record<string, string>;
  startedAt: number;
  endAt: number;
  /** The token of all calls of programs and files. */
  accessToken: string;
  /** The id of the snapshot in the SDK's store, for a paused sandbox. */
  snapshot: string | undefined;
  /**
   * The number of the server's start that runs the sandbox. A running sandbox of an earlier start
   * has ended with that server.
   */
  epoch: number;
}

/** A snapshot or a template. */
export interface TemplateRecord {
  id: string;
  tenant: string;
  /** The name, or `undefined` for a snapshot without a name. */
  name: string | undefined;
  /** The id of the snapshot in the SDK's store. */
  snapshot: string;
  /** The sandbox of the snapshot. */
  sandboxId: string | undefined;
  createdAt: number;
}
