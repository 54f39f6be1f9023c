// Connections into a runtime that a gateway keeps open between requests. An agent of Node has them,
// for one state of the runtime. `runtime-network.ts` retires the agent with its state.

import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';
import { requireBuiltin } from '../packages/installed.js';

/** The largest number of unused connections to one port. */
const UNUSED_CONNECTIONS = 16;
/**
 * Milliseconds that an unused connection is kept. A connection that is open prevents the pause of
 * its runtime.
 */
const KEEP_ALIVE_MS = 4_000;

/** Makes an agent, whose connections `connect` opens. */
export function keepingAgent(connect: (port: number) => Duplex): Agent {
  const { Agent } = requireBuiltin('node:http');
  const agent = new Agent({ keepAlive: true, maxFreeSockets: UNUSED_CONNECTIONS, timeout: KEEP_ALIVE_MS });
  agent.createConnection = ({ port }) => connect(Number(port));
  return agent;
}

/** Closes the unused connections. A connection in use is closed after its response. */
export function retire(agent: Agent): void {
  agent.maxFreeSockets = 0;
  for (const unused of Object.values(agent.freeSockets)) for (const socket of [...(unused ?? [])]) socket.destroy();
}
