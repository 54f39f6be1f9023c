// Moves finished files into place by rename. Running sandboxes map the image and the sidecar's
// binary: a file that is written in place would change in their memory.

import { chmodSync, copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

export function placeFile(from, to, mode) {
  mkdirSync(dirname(to), { recursive: true });
  const temporary = `${to}.${process.pid}.new`;
  try {
    copyFileSync(from, temporary);
    if (mode !== undefined) chmodSync(temporary, mode);
    renameSync(temporary, to);
  } finally {
    rmSync(temporary, { force: true });
  }
}
