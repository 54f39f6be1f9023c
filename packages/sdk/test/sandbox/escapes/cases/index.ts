// Lists all cases by theme. A new theme needs a folder in this folder and an entry in `THEMES`, as
// ../README.md describes.

import type { Theme } from '../harness/case.js';
import { app } from './app/index.js';
import { archives } from './archives/index.js';
import { bindings } from './bindings/index.js';
import { crypto } from './crypto/index.js';
import { descriptors } from './descriptors/index.js';
import { environment } from './environment/index.js';
import { facts } from './facts/index.js';
import { fetch } from './fetch/index.js';
import { fileSystems } from './file-systems/index.js';
import { internals } from './internals/index.js';
import { lifecycle } from './lifecycle/index.js';
import { limits } from './limits/index.js';
import { modules } from './modules/index.js';
import { mounts } from './mounts/index.js';
import { markOnce } from './once.js';
import { paths } from './paths/index.js';
import { permissions } from './permissions/index.js';
import { proc } from './proc/index.js';
import { processes } from './processes/index.js';
import { prototypes } from './prototypes/index.js';
import { races } from './races/index.js';
import { reentrancy } from './reentrancy/index.js';
import { shell } from './shell/index.js';
import { sizes } from './sizes/index.js';
import { snapshots } from './snapshots/index.js';
import { sockets } from './sockets/index.js';

export const THEMES: Theme[] = [
  paths,
  mounts,
  races,
  proc,
  descriptors,
  sockets,
  processes,
  shell,
  modules,
  crypto,
  facts,
  bindings,
  app,
  internals,
  prototypes,
  sizes,
  reentrancy,
  limits,
  permissions,
  fetch,
  archives,
  fileSystems,
  snapshots,
  environment,
  lifecycle,
].map(markOnce);
