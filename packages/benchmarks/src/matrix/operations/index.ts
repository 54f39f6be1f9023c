// All operations of the matrix, in the order of the tables.

import type { Operation } from '../operation.js';
import { appFileOperations, guestFileOperations } from './files.js';
import { guestOperations } from './guest.js';
import { networkOperations } from './network.js';
import { programOperations } from './programs.js';

export const operations: readonly Operation[] = [
  ...programOperations,
  ...networkOperations,
  ...appFileOperations,
  ...guestOperations,
  ...guestFileOperations,
];

/** Returns the operations whose name contains one of the texts, which are separated by commas. */
export function operationsNamed(texts: string, all: readonly Operation[] = operations): Operation[] {
  const wanted = texts.split(',').map((text) => text.trim());
  return all.filter(({ name }) => wanted.some((text) => name.includes(text)));
}
