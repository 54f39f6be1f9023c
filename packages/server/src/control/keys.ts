// The keys of the API, and the tenant of each key.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSameToken } from '../envd/access.js';

/** A key and its tenant. */
export interface ApiKey {
  key: string;
  tenant: string;
}

const OPEN_TENANT = 'default';

declare module 'fastify' {
  interface FastifyRequest {
    /** The tenant of the request's key. */
    tenant: string;
  }
}

/** Returns the key of a request. Clients of MCP send the key as a bearer token. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key'];
  if (typeof key === 'string') return key;
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Returns the tenant of a key, or `undefined` for an unknown key. */
export function tenantOf(keys: readonly ApiKey[], given: string): string | undefined {
  if (keys.length === 0) return OPEN_TENANT;
  return keys.find(({ key }) => isSameToken(given, key))?.tenant;
}

/**
 * Returns a hook that finds the tenant of a request. Without keys, every request is accepted, as
 * the request of one tenant.
 */
export function requireKey(keys: readonly ApiKey[]) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const given = keyOf(request);
    const tenant = tenantOf(keys, given ?? '');
    if (tenant !== undefined) request.tenant = tenant;
    else await reply.code(401).send({ code: 401, message: given === undefined ? 'X-API-KEY is missing' : 'invalid API key' });
  };
}
