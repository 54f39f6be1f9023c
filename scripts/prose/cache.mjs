// Keeps the messages of files between runs, so that a check of the whole tree lints only changed
// files.
//
// An entry is valid for the content of its file and for the linter itself: its sources, its words
// and its packages.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles } from '../build/inputs.mjs';
import { fromRoot, stateDir } from '../build/paths.mjs';

const path = join(stateDir, 'prose.json');

const digest = (...texts) =>
  texts
    .reduce((hash, text) => hash.update(text), createHash('sha256'))
    .digest('hex')
    .slice(0, 16);

/**
 * Returns the digest of the linter. A change of a file of the linter can change the messages of
 * every file.
 */
function linterDigest() {
  const sources = listFiles(['scripts/prose', 'package.json']);
  return digest(...sources.map((file) => readFileSync(fromRoot(file))));
}

function read(linter) {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8'));
    return stored.linter === linter ? stored.files : {};
  } catch {
    return {};
  }
}

/**
 * Opens the cache. `get` returns a file's stored messages, or computes and stores them. `save`
 * writes the cache.
 */
export function openCache() {
  const linter = linterDigest();
  const files = read(linter);
  let changed = false;
  return {
    async get(file, source, compute) {
      const content = digest(source);
      if (files[file]?.content !== content) {
        files[file] = { content, messages: await compute() };
        changed = true;
      }
      return files[file].messages;
    },
    save() {
      if (!changed) return;
      mkdirSync(stateDir, { recursive: true });
      writeFileSync(path, JSON.stringify({ linter, files }));
    },
  };
}
