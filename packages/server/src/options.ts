// The options of `createServer()`.

import { z } from 'zod';

const key = z.object({
  /** The text that clients send in the header `X-API-KEY`. */
  key: z.string().regex(/^[!-~]+$/, 'printable characters of ASCII without spaces'),
  /** The owner of the sandboxes that the key creates. */
  tenant: z.string().min(1).max(200).default('default'),
});

/** The shape of the options. */
export const ServerOptions = z.strictObject({
  /** The folder of the registry and of snapshots, which is made if missing. */
  directory: z.string().min(1),
  /** The keys of the API. Without keys, every request is accepted. */
  apiKeys: z.array(key).default([]),
  /** The domain of ports of sandboxes: `PORT-ID.DOMAIN`. */
  domain: z.string().min(1).max(200).optional(),
  /** The certificate and the private key in PEM. With both, the server speaks TLS. */
  tls: z.object({ cert: z.string(), key: z.string() }).optional(),
});

/** The options of `createServer()`. */
export type ServerOptions = z.input<typeof ServerOptions>;
