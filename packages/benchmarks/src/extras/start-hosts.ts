// The kinds of starts that are measured besides the matrix, on real sidecars.

import { NodeRuntime, Sidecar } from 'coldframe';
import { runtimeInstance } from '../scenarios/runtime-instance.js';
import type { StartHost, StartKind } from './starts.js';

/** Longer than any start here takes, as in `scenarios/embedded.ts`. */
const INLINE_BUDGET_MS = 5;

async function onSidecar(opening: Promise<Sidecar>): Promise<StartHost> {
  const sidecar = await opening;
  return {
    start: async (files) => runtimeInstance(await NodeRuntime.create({ sidecar, files })),
    holdSlot: async () => {
      const runtime = await NodeRuntime.create({ sidecar });
      await (await runtime.createResidentRunner()).exec('');
    },
    close: () => sidecar.dispose(),
  };
}

const shared = () => onSidecar(Sidecar.spawn());
const embedded = () => onSidecar(Sidecar.embedded());
const inline = () => onSidecar(Sidecar.embedded({ inlineBudgetMs: INLINE_BUDGET_MS }));

const plain = { what: 'an ES module without imports', imports: false, emptyPool: false };
const imports = { what: "an ES module that imports a file through Node's loader", imports: true, emptyPool: false };

export const startKinds: readonly StartKind[] = [
  { name: 'shared', ...plain, open: shared },
  { name: 'shared, with an import', ...imports, open: shared },
  { name: 'shared, empty pool', ...plain, emptyPool: true, open: shared },
  { name: 'shared, with an import, empty pool', ...imports, emptyPool: true, open: shared },
  { name: 'embedded, with an import', ...imports, open: embedded },
  { name: 'embedded inline, with an import', ...imports, open: inline },
];
