// The bodies and queries of the control plane, and the shapes of its responses.

import { z } from 'zod';
import type { SandboxRecord, TemplateRecord } from '../registry/records.js';

/** The longest life of a sandbox in seconds, from one call that sets the end to the next. */
const LONGEST_S = 30 * 24 * 3_600;
const MOST_FORKS = 100;
const MOST_ENTRIES = 100;

const texts = z.record(z.string(), z.string());
const seconds = z.number().int().max(LONGEST_S);

/** The body of a request for a new sandbox. */
export const NewSandboxBody = z.object({
  templateID: z.string().min(1).max(500),
  timeout: seconds.min(0).default(300),
  autoPause: z.boolean().default(false),
  autoPauseMemory: z.boolean().default(true),
  autoResume: z.object({ enabled: z.boolean() }).optional(),
  metadata: texts.default({}),
  envVars: texts.default({}),
});

/** The version of the body that older clients send. */
export const OldNewSandboxBody = NewSandboxBody.extend({ timeout: seconds.min(0).default(15) });

/** The body of a request that needs a time. */
export const TimeoutBody = z.object({ timeout: seconds });
/** The body of a request that may state a time. */
export const ConnectBody = z.object({ timeout: seconds.min(0).default(300) }).nullish();
/** The body of a resume by older clients. */
export const ResumeBody = z.object({ timeout: seconds.min(0).default(15), autoPause: z.boolean().optional() });
/** The body of a refresh. */
export const RefreshBody = z.object({ duration: seconds.min(0).optional() }).nullish();
/** The body of a pause. */
export const PauseBody = z.object({ memory: z.boolean().default(true) }).nullish();
/** The body of a request for a snapshot. */
export const SnapshotBody = z.object({ name: z.string().min(1).max(200).optional() }).nullish();
/** The body of a request for copies. */
export const ForkBody = z
  .object({ count: z.number().int().min(1).max(MOST_FORKS).default(1), timeout: seconds.min(0).default(300) })
  .nullish();

/** The path of a call about one sandbox or one template. */
export const IdPath = z.object({ id: z.string().min(1).max(500) });

/** The query of a list of sandboxes. Lists are joined with commas. */
export const ListQuery = z.object({
  metadata: z.string().optional(),
  state: z.string().optional(),
  template: z.string().optional(),
  startedAfter: z.string().optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
  limit: z.coerce.number().int().min(1).max(MOST_ENTRIES).default(MOST_ENTRIES),
  nextToken: z.string().optional(),
});

/** The query of a list of snapshots. */
export const SnapshotsQuery = z.object({
  sandboxID: z.string().optional(),
  name: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(MOST_ENTRIES).default(MOST_ENTRIES),
  nextToken: z.string().optional(),
});

/** The version of the agent that clients see. Clients derive the features of the agent from it. */
export const AGENT_VERSION = '0.6.13';
const CPU_COUNT = 1;
const MIB = 1 << 20;

/** The response to a request for a new sandbox or for the access to a sandbox. */
export const sandboxResponse = ({ templateId, id, alias, accessToken }: SandboxRecord) => ({
  templateID: templateId,
  sandboxID: id,
  clientID: 'coldframe',
  envdVersion: AGENT_VERSION,
  envdAccessToken: accessToken,
  trafficAccessToken: null,
  domain: null,
  ...(alias === undefined ? {} : { alias }),
});

/** The limits of a sandbox that responses state. */
export interface Size {
  memoryBytes: number;
  diskBytes: number;
}

/** An entry of a list of sandboxes. */
export const listed = (record: SandboxRecord, { memoryBytes, diskBytes }: Size) => ({
  templateID: record.templateId,
  sandboxID: record.id,
  clientID: 'coldframe',
  envdVersion: AGENT_VERSION,
  startedAt: new Date(record.startedAt).toISOString(),
  endAt: new Date(record.endAt).toISOString(),
  cpuCount: CPU_COUNT,
  memoryMB: Math.floor(memoryBytes / MIB),
  diskSizeMB: Math.floor(diskBytes / MIB),
  state: record.state,
  metadata: record.metadata,
  lifecycle: { autoResume: record.autoResume, onTimeout: record.autoPause ? 'pause' : 'kill' },
  ...(record.alias === undefined ? {} : { alias: record.alias }),
});

/** The description of one sandbox. */
export const detail = (record: SandboxRecord, size: Size) => ({
  ...listed(record, size),
  envdAccessToken: record.accessToken,
  domain: null,
  allowInternetAccess: null,
  volumeMounts: [],
});

/** The description of a snapshot. */
export const snapshotResponse = ({ id, name, sandboxId, createdAt }: TemplateRecord) => ({
  snapshotID: `${id}:default`,
  names: name === undefined ? [] : [`default/${name}`],
  ...(sandboxId === undefined ? {} : { sandboxID: sandboxId }),
  createdAt: new Date(createdAt).toISOString(),
});
