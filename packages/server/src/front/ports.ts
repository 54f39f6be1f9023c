// Passes requests to servers in sandboxes, through the SDK's gateway: HTTP, streams of events, and
// WebSocket.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { createGateway, type GatewayOptions } from 'coldframe';
import { maskedHost } from '../sandboxes/network.js';
import type { Sandboxes } from '../sandboxes/sandboxes.js';
import { portClosed } from './refusal.js';
import type { Target } from './target.js';

/** Passes requests and upgrades to servers in sandboxes. */
export interface Ports {
  request(request: IncomingMessage, response: ServerResponse, target: Target): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, target: Target): void;
}

const MESSAGES: Readonly<Record<string, string>> = {
  response: 'The server in the sandbox sent no valid response',
  timeout: 'The server in the sandbox did not respond in time',
  unavailable: 'The sandbox is not available',
};

/** Makes the gateway of all sandboxes. The caller has found the target of each request. */
export function createPorts(sandboxes: Sandboxes): Ports {
  const targets = new WeakMap<IncomingMessage, Target>();
  const refusal: GatewayOptions['refusal'] = ({ reason, status, sandbox: sandboxId, port }) => {
    if (reason === 'not-listening') return portClosed(sandboxId as string, port as number);
    const body = {
      sandboxId,
      port,
      message: MESSAGES[reason] ?? 'The sandbox was not found',
      code: status === 404 ? 502 : status,
    };
    return { status: body.code, body: JSON.stringify(body) };
  };
  const gateway = createGateway({
    target: (request) => targets.get(request),
    resolve: (id) => sandboxes.running(id)?.sandbox.runtime,
    requestHost: ({ id }) => {
      const found = sandboxes.running(id);
      return found && maskedHost(found.record.network);
    },
    refusal,
  });
  return {
    request: (request, response, target) => {
      targets.set(request, target);
      gateway.request(request, response);
    },
    upgrade: (request, socket, head, target) => {
      targets.set(request, target);
      gateway.upgrade(request, socket, head);
    },
  };
}
