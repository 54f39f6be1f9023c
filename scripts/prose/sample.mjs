// Draws comments and sentences of the documentation at random, for a person to judge.
//
// One seed always draws the same pieces from the same tree.

import { readFileSync } from 'node:fs';
import { fromRoot } from '../build/paths.mjs';
import { piecesOf } from './extract.mjs';
import { allFiles, kindOf } from './files.mjs';
import { docSentences } from './lint.mjs';

/** The least number of words in a drawn sentence. A shorter table cell is a name or a number. */
const MIN_WORDS = 4;

/** Returns a generator of numbers in [0, 1): mulberry32, whose whole state is the seed. */
function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws `count` of `items` without repetition, in the order of `items`. */
export function draw(items, count, random) {
  const indexes = items.map((_, index) => index);
  for (let at = 0; at < Math.min(count, items.length); at++) {
    const other = at + Math.floor(random() * (items.length - at));
    [indexes[at], indexes[other]] = [indexes[other], indexes[at]];
  }
  return indexes
    .slice(0, count)
    .sort((a, b) => a - b)
    .map((index) => items[index]);
}

function allComments(paths) {
  return paths.flatMap((path) => {
    const { comments } = piecesOf(readFileSync(fromRoot(path), 'utf8'), kindOf(path), path);
    return comments.map(({ line, lines }) => ({ path, line, text: lines.join('\n').trim() }));
  });
}

async function allSentences(paths) {
  const sentences = [];
  for (const path of paths) {
    for (const sentence of await docSentences(path, readFileSync(fromRoot(path), 'utf8'))) {
      if (sentence.text.split(/\s+/).length >= MIN_WORDS) sentences.push({ path, ...sentence });
    }
  }
  return sentences;
}

/** Draws `comments` comments and `docs` sentences of `files`: `{ path, line, text }`. */
export async function sample({ comments, docs, seed, files = allFiles() }) {
  const random = randomOf(seed);
  const isDocument = (path) => kindOf(path) === 'markdown';
  return {
    comments: draw(allComments(files.filter((path) => !isDocument(path))), comments, random),
    docs: draw(await allSentences(files.filter(isDocument)), docs, random),
  };
}
