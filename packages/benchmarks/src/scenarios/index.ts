// All scenarios by name.

import type { ScenarioName } from '../config/knobs.js';
import type { ScenarioAdapter } from './adapter.js';
import { embedded, embeddedInline } from './embedded.js';
import { ownedSidecar } from './owned-sidecar.js';
import { residentRunner } from './resident-runner.js';
import { sharedSidecar } from './shared-sidecar.js';

export const adapters: Readonly<Record<ScenarioName, ScenarioAdapter>> = {
  'owned-sidecar': ownedSidecar,
  'shared-sidecar': sharedSidecar,
  'resident-runner': residentRunner,
  embedded,
  'embedded-inline': embeddedInline,
};
