// Measures round trips of quiet runtimes beside a runtime that floods the edge process, and round
// trips under updates of the policy. The floor of a row is the measurement without the flood or the
// updates, in turns in one run.

import { type NetworkOptions, NodeRuntime } from 'coldframe';
import { runInSandbox } from '../sandbox/both-sides.js';
import { type PeerPorts, towardsPeer } from './peer.js';
import { pausedRoundTrips, roundTrip } from './programs.js';
import type { NetworkSetup, RowSamples } from './row.js';

const QUIET = 100;
/** The rounds on each side, in turns. */
const ROUNDS = 3;
const UPDATES_PER_SECOND = 10;

/** The programs that flood. Each prints a line when the flood has begun. */
export const FLOODS = {
  /** Streams in both directions. The limits of the flooder are the defaults. */
  bytes: ({ host, echo, stream }: PeerPorts): string => `
    import net from 'node:net';
    const receive = () => net.connect(${stream}, '${host}').resume().on('error', () => {}).on('close', receive);
    const send = () => {
      const socket = net.connect(${echo}, '${host}').on('error', () => {}).on('close', send).resume();
      const more = () => { while (socket.write(block)); };
      const block = Buffer.alloc(65536);
      socket.on('drain', more).on('connect', more);
    };
    for (let n = 0; n < 4; n++) { receive(); send(); }
    console.log('flood');`,
  connects: ({ host, echo }: PeerPorts): string => `
    import net from 'node:net';
    const connect = () => net.connect(${echo}, '${host}', function () { this.destroy(); })
      .on('error', () => {}).on('close', () => setImmediate(connect));
    for (let n = 0; n < 64; n++) connect();
    console.log('flood');`,
  lookUps: (): string => `
    import dns from 'node:dns';
    let number = 0;
    const lookUp = () => dns.lookup('flood-' + number++ + '.bench.test', () => setImmediate(lookUp));
    for (let n = 0; n < 64; n++) lookUp();
    console.log('flood');`,
};

async function start(code: string, network: NetworkOptions, { sidecar }: NetworkSetup): Promise<NodeRuntime> {
  const runtime = await NodeRuntime.create({ sidecar, network });
  await new Promise<void>((resolve, reject) => {
    const onStderr = (bytes: Uint8Array): void => reject(new Error(`the flood failed: ${Buffer.from(bytes)}`));
    runtime.spawn(code, { onStdout: () => resolve(), onStderr }).catch(reject);
  });
  return runtime;
}

async function quietRoundTrips({ sidecar, ports }: NetworkSetup): Promise<number[]> {
  const one = () => runInSandbox(pausedRoundTrips(ports), sidecar, towardsPeer(ports));
  const outputs = await Promise.all(Array.from({ length: QUIET }, one));
  return outputs.flatMap(({ samples }) => samples);
}

/** Measures round trips of 100 quiet runtimes, beside a flooder and alone. */
export async function measureBeside(flood: keyof typeof FLOODS, setup: NetworkSetup): Promise<RowSamples> {
  const [sandbox, floor]: [number[], number[]] = [[], []];
  const { limits, ...network } = towardsPeer(setup.ports);
  for (let round = 0; round < ROUNDS; round++) {
    floor.push(...(await quietRoundTrips(setup)));
    const flooder = await start(FLOODS[flood](setup.ports), network, setup);
    try {
      sandbox.push(...(await quietRoundTrips(setup)));
    } finally {
      await flooder.dispose();
    }
  }
  return { sandbox, floor };
}

/**
 * Measures round trips of a runtime while another runtime receives streams, with and without ten
 * updates per second of both policies. A connection that an update ends fails the row.
 */
export async function measureUnderUpdates(setup: NetworkSetup): Promise<RowSamples> {
  const { sidecar, ports } = setup;
  const [sandbox, floor]: [number[], number[]] = [[], []];
  const network = towardsPeer(ports);
  const receiver = await start(FLOODS.bytes(ports), network, setup);
  const measured = await NodeRuntime.create({ sidecar, network, files: { '/workspace/program.cjs': roundTrip(ports) } });
  let cut = 0;
  const stop = await measured.network.on('close', ({ reason }) => {
    if (reason === 'denied') cut++;
  });
  const run = async (): Promise<number[]> => {
    const { exitCode, stdout, stderr } = await measured.execFile('/workspace/program.cjs', { timeout: 60_000 });
    if (exitCode !== 0) throw new Error(stderr.slice(0, 300));
    return (JSON.parse(stdout) as { samples: number[] }).samples;
  };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      floor.push(...(await run()));
      let number = 0;
      const update = async (): Promise<void> => {
        const deny = [`11.0.0.${number++ % 256}:443`];
        await Promise.all([measured, receiver].map((runtime) => runtime.network.update({ deny })));
      };
      let failure: unknown;
      const timer = setInterval(() => {
        update().catch((error) => {
          failure = error;
        });
      }, 1_000 / UPDATES_PER_SECOND);
      sandbox.push(...(await run().finally(() => clearInterval(timer))));
      if (failure !== undefined) throw failure;
    }
    if (cut > 0) throw new Error(`updates have ended ${cut} connections that they allow`);
    return { sandbox, floor };
  } finally {
    await stop();
    await Promise.all([measured.dispose(), receiver.dispose()]);
  }
}
