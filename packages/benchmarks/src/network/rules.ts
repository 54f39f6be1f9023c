// Measures the cost of the option `network`: connections under many rules, starts with the unused
// option, and the first use of a sidecar.

import { NodeRuntime, Sidecar } from 'coldframe';
import { runInSandbox } from '../sandbox/both-sides.js';
import { now } from '../statistics/timer.js';
import { towardsPeer } from './peer.js';
import { connectEcho, firstConnections } from './programs.js';
import type { NetworkSetup, RowSamples } from './row.js';

const RULES = 1_024;
const ROUNDS = 5;
const STARTS = 400;
const FIRST_USES = 20;

/** Returns `count` entries: names, wildcards and prefixes. */
const entries = (count: number): string[] =>
  Array.from({ length: count }, (_, n) =>
    n % 3 === 0
      ? `host${n}.service.example.com:443`
      : n % 3 === 1
        ? `*.zone${n}.example.com:443`
        : `8.${n >> 8}.${n % 256}.0/24:443`,
  );

/** Measures connections with 1,024 rules, and with one rule. */
export async function measureRules({ sidecar, ports }: NetworkSetup): Promise<RowSamples> {
  const [sandbox, floor]: [number[], number[]] = [[], []];
  const run = async (count: number): Promise<number[]> => {
    const network = { ...towardsPeer(ports), allow: entries(count) };
    return (await runInSandbox(connectEcho(ports), sidecar, network)).samples;
  };
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(...(await run(1)));
    sandbox.push(...(await run(RULES)));
  }
  return { sandbox, floor };
}

/** Measures starts with an unused `outside: 'public'`, and starts without the option. */
export async function measureUnused({ sidecar }: NetworkSetup): Promise<RowSamples> {
  const [sandbox, floor]: [number[], number[]] = [[], []];
  const run = async (options: object): Promise<number> => {
    const from = now();
    const runtime = await NodeRuntime.create({ sidecar, ...options });
    const { stdout } = await runtime.exec('console.log(1)');
    const elapsed = now() - from;
    await runtime.dispose();
    if (stdout !== '1\n') throw new Error(`printed ${JSON.stringify(stdout)}`);
    return elapsed;
  };
  for (let round = -20; round < STARTS; round++) {
    const without = await run({});
    const unused = await run({ network: { outside: 'public' } });
    if (round < 0) continue;
    floor.push(without);
    sandbox.push(unused);
  }
  return { sandbox, floor };
}

/** Measures the first connection of a sidecar, less the second connection of the program. */
export async function measureFirstUse({ ports }: NetworkSetup): Promise<RowSamples> {
  const sandbox: number[] = [];
  for (let round = 0; round < FIRST_USES; round++) {
    const sidecar = await Sidecar.spawn();
    try {
      const { samples } = await runInSandbox(firstConnections(ports), sidecar, towardsPeer(ports));
      const [first = 0, ...later] = samples;
      sandbox.push(first - Math.min(...later));
    } finally {
      await sidecar.dispose();
    }
  }
  return { sandbox };
}
