// All adapters, by the names of the catalogue.

import type { OpenAdapter } from '../adapter.js';
import { openEmbedded, openOwned, openResident, openShared } from './coldframe.js';
import {
  openEmscriptenContext,
  openEmscriptenModule,
  openIsolatedVm,
  openQuickJsWasi,
  openVm,
  openWorkerThread,
} from './in-process.js';
import { openBun, openDeno, openNode } from './processes.js';
import { openWorkerd } from './workerd.js';

export const adapters: Readonly<Record<string, OpenAdapter>> = {
  'coldframe-owned': openOwned,
  'coldframe-shared': openShared,
  'coldframe-resident': openResident,
  'coldframe-embedded': openEmbedded,
  node: openNode,
  bun: openBun,
  deno: openDeno,
  'worker-thread': openWorkerThread,
  vm: openVm,
  'isolated-vm': openIsolatedVm,
  'quickjs-emscripten-context': openEmscriptenContext,
  'quickjs-emscripten-module': openEmscriptenModule,
  'quickjs-wasi': openQuickJsWasi,
  workerd: openWorkerd,
};
