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

/**
 * Returns a hook that finds the tenant of a request. Without keys, every request is accepted, as
 * the request of one tenant.
 */
export function requireKey(keys: readonly ApiKey[]) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (keys.length === 0) {
      request.tenant = OPEN_TENANT;
      return;
    }
    const given = request.headers['x-api-key'];
    const key = typeof given === 'string' ? keys.find((one) => isSameToken(given, one.key)) : undefined;
    if (key !== undefined) request.tenant = key.tenant;
    else await reply.code(401).send({ code: 401, message: given === undefined ? 'X-API-KEY is missing' : 'invalid API key' });
  };
}
