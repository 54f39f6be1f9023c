// Runs the neighbour: a second runtime on the sidecar of the cases, with objects that a hostile
// program could attack. The neighbour belongs to another tenant than the cases.
//
// The neighbour has a secret in its memory, in a file and in its environment. The neighbour also
// has a resident runner, an open descriptor, servers, and a snapshot on disk. The harness checks
// these objects after each case.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { NodeRuntime, type ResidentRunner, type Sidecar } from '../../../../src/index.js';

const PORT = 4_100;
const SECRET_FILE = '/workspace/neighbour-secret.txt';
export const SOCKET = '/workspace/neighbour.sock';

const SETUP = `
import fs from 'node:fs';
import net from 'node:net';
globalThis.kept = Buffer.from(process.env.SECRET).toString('utf8');
globalThis.descriptor = fs.openSync('${SECRET_FILE}', 'r');
globalThis.rounds = 0;
for (const at of [{ host: '127.0.0.1', port: ${PORT} }, '${SOCKET}', '\\0neighbour']) {
  const server = net.createServer((socket) => socket.on('error', () => {}).end(kept));
  await new Promise((resolve) => server.listen(at, resolve));
  server.unref();
}
`;

const REPORT = `
{
  const fs = await import('node:fs');
  const net = await import('node:net');
  const ask = (at) => new Promise((resolve, reject) => {
    let text = '';
    net.connect(at).on('data', (data) => { text += data; }).on('end', () => resolve(text)).on('error', reject);
  });
  const buffer = Buffer.alloc(100);
  const open = buffer.toString('utf8', 0, fs.readSync(descriptor, buffer, 0, 100, 0));
  const names = fs.readdirSync('/workspace').join();
  const seen = [
    kept, process.env.SECRET, open, fs.readFileSync('${SECRET_FILE}', 'utf8'), await ask(${PORT}), await ask('${SOCKET}')
  ];
  console.log(JSON.stringify({ seen, names, rounds: ++rounds, pid: process.pid, polluted: {}.polluted ?? null }));
}
`;

const TENANT = 'neighbour-tenant';

/** The names of the neighbour's snapshot. A case of another tenant may know all of them. */
export interface NeighbourSnapshot {
  tenant: string;
  id: string;
  name: string;
  digest: string;
  /** The path of a file that `export()` has written. */
  path: string;
}

/** The runtime beside the runtimes of the cases. */
export class Neighbour {
  readonly secret = `neighbour-${randomUUID()}`;
  #runtime: NodeRuntime | undefined;
  #runner: ResidentRunner | undefined;
  #rounds = 0;
  #first: string | undefined;
  #snapshot: NeighbourSnapshot | undefined;

  /** Starts the neighbour, and writes its snapshot to the folder `exports`. */
  static async start(sidecar: Sidecar, exports: string): Promise<Neighbour> {
    const neighbour = new Neighbour();
    const runtime = await NodeRuntime.create({
      sidecar,
      tenant: TENANT,
      env: { SECRET: neighbour.secret },
      files: { [SECRET_FILE]: neighbour.secret },
    });
    neighbour.#runtime = runtime;
    neighbour.#runner = await runtime.createResidentRunner();
    const setup = await neighbour.#runner.exec(SETUP, { timeout: 10_000 });
    if (setup.exitCode !== 0) throw new Error(`the neighbour could not start: ${setup.stderr}`);
    const name = 'neighbour-snapshot';
    const snapshot = await runtime.snapshot({ name, store: 'disk' });
    const path = join(exports, 'neighbour.snapshot');
    await snapshot.export(path);
    neighbour.#snapshot = { tenant: TENANT, id: snapshot.id, name, digest: await snapshot.digest(), path };
    return neighbour;
  }

  get snapshot(): NeighbourSnapshot {
    return this.#snapshot as NeighbourSnapshot;
  }

  get runtime(): NodeRuntime {
    return this.#runtime as NodeRuntime;
  }

  /** Returns a sentence about damage, or `undefined`. */
  async check(): Promise<string | undefined> {
    try {
      const result = await (this.#runner as ResidentRunner).exec(REPORT, { timeout: 10_000 });
      if (result.exitCode !== 0) return `the neighbour failed: ${result.error?.code ?? ''} ${result.stderr}`;
      this.#rounds++;
      const { seen, names, rounds, pid, polluted } = JSON.parse(result.stdout);
      if (seen.some((text: string) => text !== this.secret)) return `the neighbour's secret has changed: ${seen}`;
      if (rounds !== this.#rounds) return 'the neighbour has lost its memory';
      const now = JSON.stringify([names, pid, polluted]);
      this.#first ??= now;
      if (now !== this.#first) return `the neighbour sees ${now}, and saw ${this.#first}`;
      const file = Buffer.from(await this.runtime.readFile(SECRET_FILE)).toString();
      if (file !== this.secret) return "the neighbour's file has changed";
      const snapshots = await this.runtime.snapshots.list();
      const ids = snapshots.map(({ id }) => id).join();
      return ids === this.snapshot.id ? undefined : `the neighbour's snapshots have changed: ${ids}`;
    } catch (error) {
      return `the neighbour does not respond: ${error}`;
    }
  }

  async dispose(): Promise<void> {
    await this.#runtime?.dispose();
  }
}
