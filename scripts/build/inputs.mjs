// Lists the files that a step reads, given as files and folders relative to the repository.
//
// Folders that are made by a build or hold only tests are left out, so that a new test does not rebuild the engine.

import { readdirSync, statSync } from 'node:fs';
import { fromRoot } from './paths.mjs';

const SKIPPED = new Set(['node_modules', 'target', '.git']);

/** All files under `paths` in a stable order; `skip` names folders (at any depth) to leave out. A missing path is no file. */
export function listFiles(paths, skip = []) {
  const skipped = new Set([...SKIPPED, ...skip]);
  const files = [];
  const visit = (path, kind) => {
    if (kind.isFile()) files.push(path);
    if (!kind.isDirectory()) return;
    for (const entry of readdirSync(fromRoot(path), { withFileTypes: true })) {
      if (!skipped.has(entry.name)) visit(`${path}/${entry.name}`, entry);
    }
  };
  for (const path of paths) {
    const kind = statSync(fromRoot(path), { throwIfNoEntry: false });
    if (kind) visit(path, kind);
  }
  return files.sort();
}
