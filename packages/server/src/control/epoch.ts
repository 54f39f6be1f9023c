// The header `expect-epoch` of calls about one sandbox: the number of the server's start that a
// client has seen with the sandbox. A call for an earlier life of the sandbox then changes nothing.

import type { FastifyRequest } from 'fastify';
import { sandboxIdOf } from '../ids.js';
import { SandboxFailure } from '../sandboxes/failure.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';

const ROUTE = /^(?:\/v2)?\/sandboxes\/:id(?:\/|$)/;

/** Makes the hook that refuses a call with another epoch than the sandbox has. */
export function checkEpoch(sandboxes: Sandboxes) {
  return async ({ headers, params, routeOptions, tenant }: FastifyRequest): Promise<void> => {
    const expected = headers['expect-epoch'];
    if (expected === undefined || !ROUTE.test(routeOptions.url ?? '')) return;
    const id = sandboxIdOf((params as { id: string }).id);
    const { epoch } = sandboxes.find(tenant, id);
    if (String(expected) === String(epoch)) return;
    throw new SandboxFailure('wrong-epoch', `The sandbox ${id} has the epoch ${epoch}, and the call expects ${expected}`);
  };
}
