// All operations by name.

import type { Operation } from '../operation.js';
import type { OperationName } from '../plan.js';
import { branch } from './branch.js';
import { clone } from './clone.js';
import { create } from './create.js';
import { durable } from './durable.js';
import { pause } from './pause.js';
import { rollback } from './rollback.js';
import { snapshot } from './snapshot.js';
import { spawn } from './spawn.js';

export const operations: Readonly<Record<OperationName, Operation>> = {
  snapshot,
  create,
  rollback,
  clone,
  pause,
  spawn,
  branch,
  durable,
};
