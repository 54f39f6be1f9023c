// The bodies and queries of the routes of sandboxes, and the shapes of their responses.

import { posix } from 'node:path';
import { z } from 'zod';
import type { SandboxRecord } from '../../registry/records.js';
import type { Size } from '../../sandboxes/base.js';
import type { Sample } from '../../sandboxes/metrics.js';
import type { NetworkConfig } from '../../sandboxes/network.js';

/** The longest life of a sandbox in seconds, from one call that sets the end to the next. */
const LONGEST_S = 30 * 24 * 3_600;
const MOST_FORKS = 100;
const MOST_ENTRIES = 100;
const MOST_VALUES = 256;
const LONGEST_VALUE = 32_768;

const text = z
  .string()
  .max(LONGEST_VALUE)
  .refine((value) => !value.includes('\0'), 'text without NUL');
const texts = z
  .record(text.max(256), text)
  .refine((values) => Object.keys(values).length <= MOST_VALUES, `at most ${MOST_VALUES} entries`);
const envVars = texts.refine(
  (values) => Object.keys(values).every((name) => name !== '' && !name.includes('=')),
  'names of variables',
);
const seconds = z.number().int().max(LONGEST_S);

const hosts = z.array(z.string().min(1).max(260)).max(1_024);
const headers = z
  .record(z.string().min(1).max(64), z.string().max(2_048))
  .refine((all) => Object.keys(all).length <= 20, 'at most 20 headers');
const rule = z.object({ transform: z.object({ headers: headers.optional() }).optional() });
const egress = {
  allowOut: hosts.optional(),
  denyOut: hosts.optional(),
  rules: z
    .record(z.string().min(1).max(253), z.array(rule).max(1))
    .refine((all) => Object.keys(all).length <= 10, 'at most 10 hosts')
    .optional(),
  httpsPorts: z.array(z.number().int().min(1).max(65_535)).max(16).optional(),
  dnsServers: z.array(z.ipv4()).max(8).optional(),
  egressProxy: z.null('a SOCKS5 proxy is not available').optional(),
};

/** The body of a request that replaces the connections out of a sandbox. */
export const NetworkBody = z.object({ ...egress, allow_internet_access: z.boolean().optional() });

const network = z.object({
  ...egress,
  allowPublicTraffic: z.boolean().optional(),
  maskRequestHost: z
    .string()
    .regex(/^[!-~]{1,255}$/)
    .optional(),
});

const mountPath = z
  .string()
  .max(1_024)
  .refine(
    (path) => posix.isAbsolute(path) && posix.normalize(path) === path && path !== '/',
    'an absolute path without . and ..',
  );

/** The body of a request for a new sandbox. */
export const NewSandboxBody = z.object({
  sandboxID: z.string().max(100).optional(),
  templateID: z.string().min(1).max(500),
  timeout: seconds.min(0).default(300),
  autoPause: z.boolean().default(false),
  autoPauseMemory: z.boolean().default(true),
  autoResume: z.object({ enabled: z.boolean().default(false) }).optional(),
  allow_internet_access: z.boolean().optional(),
  network: network.optional(),
  metadata: texts.default({}),
  envVars: envVars.default({}),
  volumeMounts: z
    .array(z.object({ name: z.string().min(1).max(200), path: mountPath }))
    .max(16)
    .default([]),
  iam: z
    .object({
      tokens: z
        .record(z.string(), z.unknown())
        .refine((all) => Object.keys(all).length === 0, 'identity tokens are not available'),
    })
    .nullish(),
});

/** The version of the body that older clients send. */
export const OldNewSandboxBody = NewSandboxBody.extend({ timeout: seconds.min(0).default(15) });

/** The header that makes a repeated request for a new sandbox return the first sandbox. */
export const IdempotencyHeader = z
  .object({
    'idempotency-key': z
      .string()
      .regex(/^[A-Za-z0-9-]{1,255}$/)
      .optional(),
  })
  .loose();

/** The body of a request that needs a time. */
export const TimeoutBody = z.object({ timeout: seconds });
/** The body of a request that may state a time. */
export const ConnectBody = z.object({ timeout: seconds.min(0).default(300), memory: z.boolean().optional() }).nullish();
/** The body of a resume by older clients. */
export const ResumeBody = z.object({ timeout: seconds.min(0).default(15), autoPause: z.boolean().optional() });
/** The body of a refresh. */
export const RefreshBody = z.object({ duration: seconds.min(0).optional() }).nullish();
/** The body of a pause. */
export const PauseBody = z.object({ memory: z.boolean().default(true) }).nullish();
/** The body of a request for a snapshot. */
export const SnapshotBody = z.object({ name: z.string().min(1).max(200).optional(), memory: z.boolean().optional() }).nullish();
/** The body of a wait for a server in a sandbox. */
export const ProbeBody = z.object({
  port: z.number().int().min(1).max(65_535),
  path: z
    .string()
    .regex(/^\/[^\s\0]*$/)
    .max(2_000)
    .optional(),
  timeout: seconds.min(0).max(300).default(30),
});
/** The body of a rollback. */
export const RollbackBody = z.object({ snapshotID: z.string().min(1).max(500) });
/** The body of a request for copies. */
export const ForkBody = z
  .object({ count: z.number().int().min(1).max(MOST_FORKS).default(1), timeout: seconds.min(0).default(300) })
  .nullish();

/** The path of a call about one thing. */
export const IdPath = z.object({ id: z.string().min(1).max(500) });

/** The query of a list in pages. */
export const PageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MOST_ENTRIES).default(MOST_ENTRIES),
  nextToken: z.string().max(1_000).optional(),
});

/** The query of a list of sandboxes. Lists are joined with commas. */
export const ListQuery = PageQuery.extend({
  metadata: z.string().optional(),
  state: z.string().optional(),
  template: z.string().optional(),
  startedAfter: z.string().optional(),
  order: z.enum(['asc', 'desc']).default('desc'),
});

/** The query of a list of snapshots. */
export const SnapshotsQuery = PageQuery.extend({ sandboxID: z.string().optional(), name: z.string().optional() });

const unixSeconds = z.coerce
  .number()
  .min(0)
  .max(Number.MAX_SAFE_INTEGER / 1_000);

/** The query of samples: seconds since 1970. */
export const MetricsQuery = z.object({ start: unixSeconds.default(0), end: unixSeconds.optional() });

/** The query of the newest samples of several sandboxes. */
export const ManyMetricsQuery = z.object({ sandbox_ids: z.string().max(10_000) });

const level = z.enum(['debug', 'info', 'warn', 'error']).optional();
const lines = z.coerce.number().int().min(0).max(1_000).default(1_000);

/** The query of the lines of a sandbox by older clients. */
export const OldLogsQuery = z.object({ start: z.coerce.number().min(0).optional(), limit: lines });
/** The query of the lines of a sandbox. */
export const LogsQuery = z.object({
  cursor: z.coerce.number().min(0).optional(),
  limit: lines,
  direction: z.enum(['forward', 'backward']).default('forward'),
  level,
  search: z.string().max(256).optional(),
});

/** The version of the agent that clients see. Clients derive the features of the agent from it. */
export const AGENT_VERSION = '0.6.13';
/** The programs of a sandbox run on one processor at a time. */
export const CPU_COUNT = 1;
const MIB = 1 << 20;

/** The facts of the server that responses state. */
export interface Stated extends Size {
  /** The domain of ports of sandboxes. */
  domain: string | undefined;
}

const aliasOf = ({ alias }: SandboxRecord) => (alias === undefined ? {} : { alias });

/** The response to a request for a new sandbox or for the access to a sandbox. */
export const sandboxResponse = (record: SandboxRecord, { domain }: Stated) => ({
  templateID: record.templateId,
  sandboxID: record.id,
  clientID: 'coldframe',
  envdVersion: AGENT_VERSION,
  envdAccessToken: record.accessToken,
  trafficAccessToken: record.trafficToken ?? null,
  domain: domain ?? null,
  epoch: record.epoch,
  ...aliasOf(record),
});

/** An entry of a list of sandboxes. */
export const listed = (record: SandboxRecord, { memoryBytes, diskBytes }: Stated) => ({
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
  epoch: record.epoch,
  metadata: record.metadata,
  lifecycle: { autoResume: record.autoResume, onTimeout: record.autoPause ? 'pause' : 'kill' },
  volumeMounts: record.volumeMounts,
  ...(record.pauseMode === undefined ? {} : { pauseMode: record.pauseMode }),
  ...aliasOf(record),
});

/** Returns the reasons why a sandbox cannot move to another server. */
function pinsOf({ state, snapshot, volumeMounts }: SandboxRecord): string[] {
  const isFrozen = state === 'paused' && snapshot === undefined;
  return [...(isFrozen ? ['frozen'] : []), ...volumeMounts.map(({ name }) => `volume:${name}`)];
}

/**
 * The description of one sandbox with `leftMs` until its end. Only callers that may use the sandbox
 * get its token.
 */
export const detail = (record: SandboxRecord, stated: Stated, { leftMs, hasToken }: { leftMs: number; hasToken: boolean }) => ({
  ...listed(record, stated),
  // `endAt` is a time of this machine's clock. The rest of the time needs no common clock.
  remainingMs: Math.round(leftMs),
  movable: pinsOf(record).length === 0,
  pins: pinsOf(record),
  ...(hasToken ? { envdAccessToken: record.accessToken } : {}),
  domain: stated.domain ?? null,
  allowInternetAccess: record.network.allowInternet ?? null,
  network: networkResponse(record.network),
});

const networkResponse = ({ allowInternet: _, allowPublicTraffic = true, ...network }: NetworkConfig) => ({
  allowPublicTraffic,
  ...network,
});

/** A sample in the clients' shape. */
export const metricResponse = ({ at, cpuUsedPct, memoryBytes, diskBytes }: Sample, size: Size) => ({
  timestamp: new Date(at).toISOString(),
  timestampUnix: Math.floor(at / 1_000),
  cpuCount: CPU_COUNT,
  cpuUsedPct,
  memUsed: memoryBytes,
  memTotal: size.memoryBytes,
  memCache: 0,
  diskUsed: diskBytes,
  diskTotal: size.diskBytes,
});
