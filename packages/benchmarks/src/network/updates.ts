// Measures updates of the policy of a runtime. An update resolves when the edge process has the new
// policy. A ping of the sidecar is the floor, because an update is a request with a further hop.

import { NodeRuntime } from 'coldframe';
import { now } from '../statistics/timer.js';
import { towardsPeer } from './peer.js';
import type { NetworkSetup } from './row.js';

const SAMPLES = 300;

/** Returns `count` addresses that no other option names. */
const addresses = (count: number, round: number): string[] =>
  Array.from({ length: count }, (_, n) => `11.0.0.${(n + round) % 256}:${1 + Math.floor(n / 256)}`);

/** Measures updates that replace a list of `count` addresses, and pings in turns. */
export async function measureUpdates(
  count: number,
  { sidecar, ports }: NetworkSetup,
): Promise<{ sandbox: number[]; floor: number[] }> {
  const runtime = await NodeRuntime.create({ sidecar, network: towardsPeer(ports) });
  try {
    const [sandbox, floor]: [number[], number[]] = [[], []];
    for (let round = -20; round < SAMPLES; round++) {
      const deny = addresses(count, Math.abs(round));
      const from = now();
      await runtime.network.update({ deny });
      const between = now();
      await sidecar.ping();
      if (round < 0) continue;
      sandbox.push(between - from);
      floor.push(now() - between);
    }
    const judged = await runtime.network.check('http://11.0.0.43:1');
    if (judged.allowed || judged.rule === undefined) throw new Error('the last update is not in force');
    return { sandbox, floor };
  } finally {
    await runtime.dispose();
  }
}
