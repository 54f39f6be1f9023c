// Waits for a change below files and folders, given relative to the repository.
//
// Node watches a folder without the folders in it, so each folder is watched separately. Folders
// that a build writes to or that contain dependencies are skipped. Call `watchFolders` again after
// each build: new folders are then watched too.

import { readdirSync, statSync, watch } from 'node:fs';
import { dirname } from 'node:path';
import { fromRoot } from './paths.mjs';

/**
 * The time without a change after which a change counts as complete: editors write a file in
 * several steps.
 */
const QUIET_MS = 100;

const SKIPPED = new Set(['.git', '.tsc', 'dist', 'node_modules', 'target']);

/**
 * Lists the folders to watch: folders in `paths` with all folders below, and the folders of files.
 */
function foldersOf(paths) {
  const folders = new Set();
  const visit = (folder) => {
    folders.add(folder);
    for (const entry of readdirSync(fromRoot(folder), { withFileTypes: true })) {
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) visit(`${folder}/${entry.name}`);
    }
  };
  for (const path of paths) {
    if (path.split('/').some((name) => SKIPPED.has(name) || name === '.build')) continue;
    const stat = statSync(fromRoot(path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) visit(path);
    else if (stat) folders.add(dirname(path));
  }
  return folders;
}

/**
 * Starts to watch. `next()` resolves after a change, when no further change follows for QUIET_MS.
 */
export function watchFolders(paths) {
  let resolveNext;
  const changed = new Promise((resolve) => {
    resolveNext = resolve;
  });
  let timer;
  const onChange = () => {
    clearTimeout(timer);
    timer = setTimeout(resolveNext, QUIET_MS);
  };
  const watchers = [...foldersOf(paths)].map((folder) => {
    const watcher = watch(fromRoot(folder), onChange);
    watcher.on('error', onChange); // the folder was removed
    return watcher;
  });
  return {
    async next() {
      await changed;
      for (const watcher of watchers) watcher.close();
    },
  };
}
