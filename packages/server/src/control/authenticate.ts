// Finds the holder of a request's key, and compares the key's scopes with the scope of the route.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Caller, isAllowed, type Keys } from '../access/keys.js';
import type { Audit } from '../events/audit.js';
import type { Scope } from '../registry/records.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The tenant of the request's key. */
    tenant: string;
    /** The holder of the request's key. */
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** The scope that the route needs. @default `read` for GET, else `exec` */
    scope?: Scope;
  }
}

/** Returns the key of a request: the header `X-API-KEY`, or a bearer token. */
export function keyOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const given = headers['x-api-key'];
  if (typeof given === 'string') return given;
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Returns a hook that finds the holder of a request's key. */
export function requireKey(keys: Keys, audit: Audit) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const given = keyOf(request);
    const caller = keys.find(given ?? '');
    const refuse = (status: number, message: string) => {
      const { method, url } = request;
      audit.write({
        kind: 'refused',
        tenant: caller?.tenant,
        method,
        path: url.split('?', 1)[0],
        status,
        address: request.socket.remoteAddress,
      });
      return reply.code(status).send({ code: status, message });
    };
    if (caller === undefined) {
      await refuse(401, given === undefined ? 'X-API-KEY is missing' : 'invalid API key');
      return;
    }
    const scope = request.routeOptions.config.scope ?? (request.method === 'GET' ? 'read' : 'exec');
    if (!isAllowed(caller, scope)) await refuse(403, `the key lacks the scope ${scope}`);
    request.caller = caller;
    request.tenant = caller.tenant;
  };
}
