// Lists the files that a step reads. Paths are relative to the repository.
//
// A step skips folders that a build writes and folders of tests, so that a new test does not
// rebuild the engine.

import { readdirSync, statSync } from 'node:fs';
import { fromRoot } from './paths.mjs';

const SKIPPED = new Set(['node_modules', 'target', '.git']);

/**
 * Lists all files in `paths` in a stable order. `skip` names folders to leave out, at any depth. A
 * missing path has no files.
 */
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
