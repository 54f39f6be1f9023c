// The scene of the suite: one sidecar, the neighbour on it, the ground on the host. Next: `run.ts`.

import { randomUUID } from 'node:crypto';
import { NodeRuntime, Sidecar } from '../../../../src/index.js';
import { descriptorsOf, sleep } from '../../processes.js';
import { forbidden } from './facts.js';
import { Neighbour } from './neighbour.js';
import { Ground } from './place.js';
import { SidecarWatch } from './sidecar-watch.js';

/** Programs at a time before the sidecar is looked at for the first time: what it keeps for reuse is there then. */
const WARM_UP = 24;

export interface Scene {
  sidecar: Sidecar;
  neighbour: Neighbour;
  ground: Ground;
  watch: SidecarWatch;
  facts: Map<string, string>;
}

export async function openScene(): Promise<Scene> {
  // The sidecar inherits it; a guest must not see it.
  process.env.COLDFRAME_ESCAPES = `host-environment-${randomUUID()}`;
  const ground = new Ground();
  const sidecar = await Sidecar.spawn({ workers: 2 });
  const neighbour = await Neighbour.settle(sidecar);
  await warmUp(sidecar, ground);
  return { sidecar, neighbour, ground, watch: new SidecarWatch(sidecar), facts: forbidden(ground, neighbour.secret) };
}

async function warmUp(sidecar: Sidecar, ground: Ground): Promise<void> {
  const folder = ground.place().inside;
  const runtime = await NodeRuntime.create({ sidecar, mounts: [{ guestPath: '/m', hostPath: folder, readOnly: false }] });
  await Promise.all(Array.from({ length: WARM_UP }, () => runtime.exec('await new Promise((done) => setTimeout(done, 50))')));
  // The library that opens folders keeps a descriptor of /proc from its first change of a mode on.
  await runtime.exec(`import fs from 'node:fs'; fs.chmodSync('/m/dir', 0o755); fs.utimesSync('/m/dir', 1, 1);`);
  await runtime.execCommand('sh', ['-c', 'echo x | cat']);
  await runtime.dispose();
  // What it had open is closed when the last of its programs has been taken down.
  while ((await sidecar.getResourceSnapshot()).runtimes > 1 || descriptorsOf(sidecar.pid).includes(folder)) await sleep(5);
}

export async function closeScene(scene: Scene | undefined): Promise<void> {
  await scene?.neighbour.leave();
  await scene?.sidecar.dispose();
  scene?.ground.remove();
  delete process.env.COLDFRAME_ESCAPES;
}
