// All operations by name, in the order in which they are measured and shown. A new operation needs
// a file in this folder and an entry in this module.

import type { Operation } from '../operation.js';
import { branch } from './branch.js';
import { clone } from './clone.js';
import { create } from './create.js';
import { durable } from './durable.js';
import { pause } from './pause.js';
import { rollback } from './rollback.js';
import { snapshot } from './snapshot.js';
import { spawn } from './spawn.js';

const declared = { snapshot, create, rollback, clone, pause, spawn, branch, durable } satisfies Record<string, Operation>;

export type OperationName = keyof typeof declared;

export const operations: Readonly<Record<OperationName, Operation>> = declared;
export const OPERATION_NAMES = Object.keys(operations) as OperationName[];
