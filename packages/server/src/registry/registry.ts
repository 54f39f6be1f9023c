// The registry: what the server must know after a restart. A server of many machines has another
// registry with this interface. Next: `sqlite.ts`.

import type { SandboxRecord, SandboxState, TemplateRecord } from './records.js';

/** The sandboxes that a list has. */
export interface SandboxQuery {
  tenant: string;
  states: readonly SandboxState[];
  /** Entries that the metadata must have. */
  metadata: Readonly<Record<string, string>>;
  templateIds: readonly string[] | undefined;
  /** Lists sandboxes that started at this time or later. */
  startedAfter: number | undefined;
  order: 'asc' | 'desc';
  limit: number;
  /** Lists the sandboxes behind this one. */
  after: Cursor | undefined;
}

/** The place of an entry in a list: the time, then the id. */
export interface Cursor {
  at: number;
  id: string;
}

/** The snapshots that a list has. */
export interface TemplateQuery {
  tenant: string;
  sandboxId: string | undefined;
  name: string | undefined;
  limit: number;
  after: Cursor | undefined;
}

/** The store of the server's records. A call that returns has stored its change on disk. */
export interface Registry {
  /** The number of this start of the server. */
  readonly epoch: number;
  addSandbox(record: SandboxRecord): void;
  sandbox(id: string): SandboxRecord | undefined;
  /** Changes fields of a sandbox. Does nothing if the sandbox does not exist. */
  changeSandbox(id: string, change: Partial<SandboxRecord>): void;
  /** Removes a sandbox. Returns whether the sandbox existed. */
  removeSandbox(id: string): boolean;
  /** Returns sandboxes, ordered by the time of their start. */
  sandboxes(query: SandboxQuery): SandboxRecord[];
  /** Returns the number of running sandboxes of a tenant. */
  running(tenant: string): number;
  addTemplate(record: TemplateRecord): void;
  /** Returns the template with an id or a name. */
  template(tenant: string, reference: string): TemplateRecord | undefined;
  removeTemplate(id: string): boolean;
  /** Returns templates, the newest first. */
  templates(query: TemplateQuery): TemplateRecord[];
  close(): void;
}
