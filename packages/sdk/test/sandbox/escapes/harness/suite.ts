// Opens the objects that all cases share: one sidecar, the neighbour on the sidecar, the folders on
// the host machine. Next: `run.ts`.

import { randomUUID } from 'node:crypto';
import { NodeRuntime, Sidecar } from '../../../../src/index.js';
import { descriptorsOf, sleep } from '../../processes.js';
import { forbidden } from './facts.js';
import { HostFolders } from './folders.js';
import { Neighbour } from './neighbour.js';
import { SidecarWatch } from './sidecar-watch.js';

/**
 * The number of concurrent programs before the first measurement of the sidecar. The sidecar keeps
 * objects of these programs for reuse.
 */
const WARM_UP = 24;

export interface Suite {
  sidecar: Sidecar;
  neighbour: Neighbour;
  folders: HostFolders;
  watch: SidecarWatch;
  facts: Map<string, string>;
}

export async function openSuite(): Promise<Suite> {
  // No guest may see the value of this environment variable.
  process.env.COLDFRAME_ESCAPES = `host-environment-${randomUUID()}`;
  const folders = new HostFolders();
  const sidecar = await Sidecar.spawn({ workers: 2 });
  const neighbour = await Neighbour.start(sidecar);
  await warmUp(sidecar, folders);
  return { sidecar, neighbour, folders, watch: new SidecarWatch(sidecar), facts: forbidden(folders, neighbour.secret) };
}

async function warmUp(sidecar: Sidecar, folders: HostFolders): Promise<void> {
  const folder = folders.forCase().inside;
  const runtime = await NodeRuntime.create({ sidecar, mounts: [{ guestPath: '/m', hostPath: folder, readOnly: false }] });
  await Promise.all(Array.from({ length: WARM_UP }, () => runtime.exec('await new Promise((done) => setTimeout(done, 50))')));
  // The sidecar's library for folders opens /proc at the first change of a mode, and keeps that
  // descriptor.
  await runtime.exec(`import fs from 'node:fs'; fs.chmodSync('/m/dir', 0o755); fs.utimesSync('/m/dir', 1, 1);`);
  await runtime.execCommand('sh', ['-c', 'echo x | cat']);
  await runtime.dispose();
  // The sidecar closes the mounted folder after the resources of the last program were released.
  while ((await sidecar.getResourceSnapshot()).runtimes > 1 || descriptorsOf(sidecar.pid).includes(folder)) await sleep(5);
}

export async function closeSuite(suite: Suite | undefined): Promise<void> {
  await suite?.neighbour.dispose();
  await suite?.sidecar.dispose();
  suite?.folders.remove();
  delete process.env.COLDFRAME_ESCAPES;
}
