// Measures a round trip between two runtimes of a private network, beside a round trip between two
// processes of one runtime. Both sides run equal programs, in turns.

import { Network, NodeRuntime } from 'coldframe';
import type { Output } from '../sandbox/both-sides.js';
import { roundTrip } from './programs.js';
import type { NetworkSetup } from './row.js';

const ROUNDS = 5;
const PORT = 7000;
const TIMEOUT_MS = 60_000;
const ECHO = `
  import net from 'node:net';
  net.createServer((socket) => socket.setNoDelay(true).on('error', () => {}).pipe(socket)).listen(${PORT});`;

export async function measureMembers({ sidecar, ports }: NetworkSetup): Promise<{ sandbox: number[]; floor: number[] }> {
  const network = await Network.create({ sidecar, name: 'bench' });
  const [server, client] = await Promise.all([
    NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'server' }] } }),
    NodeRuntime.create({ sidecar, network: { join: [{ network, as: 'client' }] } }),
  ]);
  try {
    await Promise.all([server, client].map((runtime) => runtime.spawn(ECHO)));
    await Promise.all([server, client].map((runtime) => runtime.waitForListener({ port: PORT })));
    const [sandbox, floor]: [number[], number[]] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      floor.push(...(await samplesOf(client, roundTrip({ ...ports, host: '127.0.0.1', echo: PORT }))));
      sandbox.push(...(await samplesOf(client, roundTrip({ ...ports, host: 'server', echo: PORT }))));
    }
    return { sandbox, floor };
  } finally {
    await Promise.all([server.dispose(), client.dispose()]);
    await network.dispose();
  }
}

async function samplesOf(runtime: NodeRuntime, program: string): Promise<number[]> {
  await runtime.writeFile('/workspace/program.cjs', program);
  const result = await runtime.execFile('/workspace/program.cjs', { timeout: TIMEOUT_MS });
  if (result.exitCode !== 0) throw new Error(`sandbox: ${result.error?.message ?? result.stderr.slice(0, 300)}`);
  return (JSON.parse(result.stdout) as Output).samples;
}
