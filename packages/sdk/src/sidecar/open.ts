// The two ways to a sidecar: a process of its own, or this one.

import type { SidecarEmbeddedOptions, SidecarSpawnOptions } from '../options/types.js';
import { spawnSidecar } from '../transports/child-process.js';
import { openAddon } from '../transports/embedded.js';
import type { Opening, ProcessConnection } from './connection.js';
import { locateAddon, locateImage, locateSidecar } from './locate.js';

/** Starts a sidecar process. Throws when the operating system refuses at once. */
export function openProcess({ workers, warmSlots, spinUs }: SidecarSpawnOptions = {}): Opening<ProcessConnection> {
  const args = ['--image', locateImage()];
  if (workers !== undefined) args.push('--workers', String(workers));
  if (warmSlots !== undefined) args.push('--warm-slots', String(warmSlots));
  if (spinUs !== undefined) args.push('--spin-us', String(spinUs));
  return spawnSidecar(locateSidecar(), args);
}

/** Opens the sidecar that lives in this process. Throws when it cannot be loaded. */
export function openEmbedded({ workers, warmSlots, spinUs, inlineBudgetMs = 0 }: SidecarEmbeddedOptions = {}): Opening {
  const inlineUs = Math.round(inlineBudgetMs * 1_000);
  return openAddon(locateAddon(), { imageDir: locateImage(), workers, warmSlots, spinUs, inlineUs });
}
