// Embedded: the same core inside this process, on its own threads; inline: a guest's turn begins on the caller's thread.

import { Sidecar } from 'coldframe';
import type { ScenarioAdapter } from './adapter.js';
import { runtimePhases } from './runtime-instance.js';
import { hostOn } from './shared-sidecar.js';

/** Long enough for the snippets here to end within it: what is measured is the path without any thread being woken. */
const INLINE_BUDGET_MS = 5;

export const embedded: ScenarioAdapter = {
  name: 'embedded',
  execPhases: runtimePhases,
  costGuessMs: 1,
  hasSetup: true,
  open: async () => hostOn(await Sidecar.embedded()),
};

export const embeddedInline: ScenarioAdapter = {
  ...embedded,
  name: 'embedded-inline',
  open: async () => hostOn(await Sidecar.embedded({ inlineBudgetMs: INLINE_BUDGET_MS })),
};
