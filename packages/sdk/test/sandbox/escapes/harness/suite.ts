// Opens the objects that all cases of a mode share: the neighbour, its sidecar, the folders on the
// host machine. Next: `run.ts`.

import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NodeRuntime, type Sidecar } from '../../../../src/index.js';
import { descriptorsOf, sleep } from '../../processes.js';
import { forbidden } from './facts.js';
import { HostFolders } from './folders.js';
import { Neighbour } from './neighbour.js';
import { type Mode, openSidecar } from './place.js';
import { SidecarWatch } from './sidecar-watch.js';

/**
 * The number of concurrent programs before the first measurement of the sidecar. The sidecar keeps
 * objects of these programs for reuse.
 */
const WARM_UP = 24;

export interface Suite {
  mode: Mode;
  /** The neighbour's sidecar, which the cases share except in owned mode. */
  sidecar: Sidecar;
  neighbour: Neighbour;
  folders: HostFolders;
  watch: SidecarWatch;
  facts: Map<string, string>;
}

let storeBefore: string | undefined;

export async function openSuite(mode: Mode): Promise<Suite> {
  // No guest may see the value of this environment variable.
  process.env.COLDFRAME_ESCAPES = `host-environment-${randomUUID()}`;
  const folders = new HostFolders();
  // All sidecars use one folder of snapshots, so that tenants meet in the folder.
  storeBefore = process.env.XDG_DATA_HOME;
  process.env.XDG_DATA_HOME = join(folders.root, 'data');
  const exports = join(folders.root, 'exports');
  mkdirSync(exports);
  const sidecar = await openSidecar(mode);
  const neighbour = await Neighbour.start(sidecar, exports);
  await warmUp(sidecar, folders);
  const watch = new SidecarWatch(sidecar);
  return { mode, sidecar, neighbour, folders, watch, facts: forbidden(folders, neighbour.secret) };
}

async function warmUp(sidecar: Sidecar, folders: HostFolders): Promise<void> {
  const folder = folders.forCase().inside;
  const runtime = await NodeRuntime.create({ sidecar, mounts: [{ guestPath: '/m', hostPath: folder, readOnly: false }] });
  await Promise.all(Array.from({ length: WARM_UP }, () => runtime.exec('await new Promise((done) => setTimeout(done, 50))')));
  // The sidecar's library for folders opens /proc at the first change of a mode, and keeps that
  // descriptor.
  await runtime.exec(`import fs from 'node:fs'; fs.chmodSync('/m/dir', 0o755); fs.utimesSync('/m/dir', 1, 1);`);
  await runtime.execCommand('sh', ['-c', 'echo x | cat']);
  // Without the image of Python, the command fails.
  await runtime.execCommand('python3', ['-c', 'pass']);
  await runtime.dispose();
  // The sidecar closes the mounted folder after the resources of the last program were released.
  while ((await sidecar.getResourceSnapshot()).runtimes > 1 || descriptorsOf(sidecar.pid).includes(folder)) await sleep(5);
}

export async function closeSuite(suite: Suite | undefined): Promise<void> {
  await suite?.neighbour.dispose();
  await suite?.sidecar.dispose();
  suite?.folders.remove();
  delete process.env.COLDFRAME_ESCAPES;
  if (storeBefore === undefined) delete process.env.XDG_DATA_HOME;
  else process.env.XDG_DATA_HOME = storeBefore;
}
