// The registry: what the server must know after a restart. A server of many machines has another
// registry with these interfaces. Next: `sqlite.ts`.

import type {
  BuildRecord,
  EndedRecord,
  EndReason,
  EventRecord,
  KeyRecord,
  SandboxRecord,
  SandboxState,
  SecretRecord,
  StepRecord,
  TagRecord,
  TemplateRecord,
  UploadRecord,
  VolumeRecord,
  WebhookRecord,
} from './records.js';

/** The place of an entry in a list: the time, then the id. */
export interface Cursor {
  at: number;
  id: string;
}

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

/** The number of sandboxes of a tenant in each state. */
export type SandboxCounts = Record<SandboxState, number>;

/** The sandboxes. */
export interface SandboxStore {
  /** Adds a sandbox. A record never changes: `change()` replaces the record. */
  add(record: SandboxRecord): void;
  get(id: string): SandboxRecord | undefined;
  /** Changes fields of a sandbox. Does nothing if the sandbox does not exist. */
  change(id: string, change: Partial<SandboxRecord>): void;
  /** Removes a sandbox, and keeps the reason. Returns whether the sandbox existed. */
  end(id: string, reason: EndReason, at: number): boolean;
  /** Returns a sandbox that has ended, if its end is recent. */
  ended(id: string): EndedRecord | undefined;
  /** Returns sandboxes, ordered by the time of their start. */
  list(query: SandboxQuery): SandboxRecord[];
  count(tenant: string): SandboxCounts;
  /** Returns the paused sandboxes of all tenants, in the order of their ends. */
  paused(): SandboxRecord[];
}

/** The templates that a list has. */
export interface TemplateQuery {
  tenant: string;
  kind: TemplateRecord['kind'];
  sandboxId?: string | undefined;
  name?: string | undefined;
  limit: number;
  after: Cursor | undefined;
}

/** The templates and snapshots, with their builds and tags. */
export interface TemplateStore {
  /** Adds a template with a build and its tags. */
  add(template: TemplateRecord, build: BuildRecord, tags: readonly string[]): void;
  /** Adds a build with its tags to a template. */
  addBuild(build: BuildRecord, tags: readonly string[]): void;
  /** Returns the template with an id or a name. */
  find(tenant: string, reference: string): TemplateRecord | undefined;
  /** Removes a template with its builds and tags. Returns the removed builds. */
  remove(id: string): BuildRecord[];
  /** Returns templates, the newest first. */
  list(query: TemplateQuery): TemplateRecord[];
  count(tenant: string): number;
  /** Returns the templates and snapshots of a tenant with their newest ready builds. */
  warm(tenant: string): { templateID: string; buildID: string }[];
  build(id: string): BuildRecord | undefined;
  changeBuild(id: string, change: Partial<BuildRecord>): void;
  removeBuild(id: string): void;
  /** Returns the builds of a template, the newest first. */
  builds(templateId: string): BuildRecord[];
  setTag(templateId: string, tag: TagRecord): void;
  removeTag(templateId: string, tag: string): boolean;
  tags(templateId: string): TagRecord[];
  /** Returns the kept result of a step, and notes its use. */
  step(tenant: string, key: string, now: number): StepRecord | undefined;
  setStep(step: StepRecord): void;
  upload(tenant: string, hash: string): UploadRecord | undefined;
  setUpload(upload: UploadRecord): void;
  /** Returns whether an upload of any tenant has the bytes. */
  isUploaded(digest: string): boolean;
  /** Removes and returns all kept steps except the `keep` steps that were used last. */
  dropSteps(tenant: string, keep: number): StepRecord[];
}

/** The events that a list has. */
export interface EventQuery {
  tenant: string;
  sandboxId: string | undefined;
  /** Lists the events with a larger sequence. */
  after: number | undefined;
  types: readonly string[] | undefined;
  order: 'asc' | 'desc';
  offset: number;
  limit: number;
}

/** The events, in the order in which they happened. */
export interface EventStore {
  /** Appends an event, and returns its place in the order. */
  append(event: Omit<EventRecord, 'sequence'>): number;
  list(query: EventQuery): EventRecord[];
}

/** Named things of tenants. */
export interface NamedStore<T extends { id: string; tenant: string }> {
  /** Adds a record. Returns `false` if the tenant has a record with the name. */
  add(record: T): boolean;
  get(id: string): T | undefined;
  named(tenant: string, name: string): T | undefined;
  change(id: string, change: Partial<T>): void;
  remove(id: string): boolean;
  /** Returns the records of a tenant in the order of their creation. */
  list(tenant: string): T[];
}

/** The replies to requests that a client may repeat. */
export interface ReplyStore {
  /** Returns the sandbox that an earlier request with the key has created. */
  get(tenant: string, key: string): string | undefined;
  set(tenant: string, key: string, sandboxId: string, now: number): void;
}

/** The store of the server's records. */
export interface Registry {
  /** The number of this start of the server. */
  readonly epoch: number;
  /** Whether this start has made the registry. */
  readonly isNew: boolean;
  /** The constant part of the ids that this server hands out. */
  readonly home: string;
  readonly sandboxes: SandboxStore;
  readonly templates: TemplateStore;
  readonly events: EventStore;
  readonly webhooks: NamedStore<WebhookRecord>;
  readonly volumes: NamedStore<VolumeRecord>;
  readonly secrets: NamedStore<SecretRecord>;
  readonly keys: NamedStore<KeyRecord> & { byDigest(digest: string): KeyRecord | undefined };
  readonly replies: ReplyStore;
  /** Returns the tenants, and everything in other stores that records name. */
  kept(): { tenants: string[]; snapshots: ReadonlySet<string>; blobs: ReadonlySet<string> };
  /** Returns whether the registry can be read and written. */
  check(): boolean;
  close(): void;
}
