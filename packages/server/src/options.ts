// The options of `createServer()`. `docs/server.md` describes each option.

import { z } from 'zod';

const TENANT = z.string().min(1).max(200);
const count = z.number().int().min(0).max(1_000_000);

const key = z.object({
  /** The text that clients send in the header `X-API-KEY`. */
  key: z.string().regex(/^[!-~]+$/, 'printable characters of ASCII without spaces'),
  /** The owner of the sandboxes that the key creates. */
  tenant: TENANT.default('default'),
  /** The operations that the key allows. A wider scope contains the narrower ones. */
  scopes: z
    .array(z.enum(['read', 'exec', 'admin', 'operator']))
    .min(1)
    .default(['admin']),
});

const quota = z.strictObject({
  /** Running sandboxes at a time. */
  sandboxes: count.optional(),
  /** Paused sandboxes. */
  paused: count.optional(),
  /** Templates and snapshots. */
  templates: count.optional(),
  /** Volumes. */
  volumes: count.optional(),
  /** New sandboxes in a second. */
  createsPerSecond: z.number().min(0.001).max(1_000_000).optional(),
});

const bytes = z
  .number()
  .int()
  .min(1 << 20);

const DEFAULT_RESERVE = 128 << 20;
const DEFAULT_IMPORT = 2 * 2 ** 30;

/** The shape of the options. */
export const ServerOptions = z.strictObject({
  /** The folder of the registry, snapshots and volumes, which is made if missing. */
  directory: z.string().min(1),
  /** The keys of the API. Without keys, every request is accepted. */
  apiKeys: z.array(key).default([]),
  /** The domain of ports of sandboxes: `PORT-ID.DOMAIN`. Clients then use the domain. */
  domain: z.string().min(1).max(200).optional(),
  /** The certificate and the private key in PEM. With both, the server speaks TLS. */
  tls: z.object({ cert: z.string(), key: z.string() }).optional(),
  /** The bounds of tenants by their names. */
  quotas: z.record(TENANT, quota).default({}),
  /** The size of each sandbox. */
  sandbox: z
    .strictObject({
      /** Memory of all programs together. */
      totalMemoryBytes: bytes.max(1_099_511_627_776).optional(),
      /** Memory of one program. */
      memoryBytes: bytes.max(2_147_483_648).optional(),
      /** Bytes of files. */
      filesystemBytes: bytes.max(1_099_511_627_776).optional(),
      processes: z.number().int().min(8).max(65_536).optional(),
    })
    .default({}),
  /** The space for sandboxes. A full server refuses new sandboxes. */
  capacity: z
    .strictObject({
      sandboxes: count.default(10_000),
      reserveBytes: z.number().int().min(0).default(DEFAULT_RESERVE),
    })
    .prefault({}),
  /** Whether sandboxes without a choice of their client reach the internet. */
  internetAccess: z.boolean().default(true),
  /** Milliseconds without a request until a sandbox with `autoResume` is paused. */
  idlePauseMs: z.number().int().min(100).max(2_147_483_647).optional(),
  /** Bytes of all snapshots on disk. Beyond the bound, the least recently used are deleted. */
  snapshotBytes: bytes.optional(),
  /** Bytes of one imported file of a snapshot at most. */
  importBytes: bytes.default(DEFAULT_IMPORT),
  /** The bounds of each volume. */
  volume: z.strictObject({ bytes: bytes.default(10 * 2 ** 30), entries: count.default(100_000) }).prefault({}),
  /** Whether webhooks may have URLs without TLS and private addresses. */
  allowPrivateWebhooks: z.boolean().default(false),
  webhooks: z
    .strictObject({
      attempts: z.number().int().min(1).max(20).default(6),
      firstDelayMs: z.number().int().min(1).max(300_000).default(1_000),
      timeoutMs: z.number().int().min(1).max(60_000).default(10_000),
    })
    .prefault({}),
  /** Whether the file `audit.jsonl` in the folder has a line for each change. */
  audit: z.boolean().default(true),
  /** The lines of the server's log: none, failures, or all. */
  log: z.enum(['off', 'error', 'info']).default('error'),
});

/** The options of `createServer()`. */
export type ServerOptions = z.input<typeof ServerOptions>;
