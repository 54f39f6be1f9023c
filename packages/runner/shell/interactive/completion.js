// Completion with Tab: commands, variables and paths, in the form of Node's readline.
// Next: line-editor.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { shellBuiltins } from 'just-bash';
import { KEYWORDS, ownBuiltins } from '../builtins.js';

const SPECIAL = /[\s'"\\$`&|;<>()*?[\]{}!#~]/g;
const MOST = 1_000;

// The part of the line that is completed: the last word. A backslash escapes the next character.
const LAST_WORD = /(?:\\.|[^\s'"\\;&|<>()=]|=)*$/s;
// The text before a word that is the name of a command.
const BEFORE_COMMAND = /(?:^|[;&|(]|\b(?:if|then|else|elif|while|until|do|time|sudo|exec|nohup)\s)\s*$/;

const unescaped = (word) => word.replace(/\\(.)/gs, '$1');
const escaped = (name) => name.replace(SPECIAL, '\\$&');

function variables(word, { env }) {
  const [, sign, name] = /^(.*\$\{?)(\w*)$/s.exec(word);
  const close = sign.endsWith('{') ? '}' : '';
  const names = [...env.keys()].filter((key) => /^[A-Za-z_]\w*$/.test(key) && key.startsWith(name));
  return [names.map((key) => `${sign}${key}${close} `), word];
}

function executables(prefix, { env, cwd }) {
  const names = new Set();
  for (const folder of (env.get('PATH') ?? '').split(':')) {
    let listing;
    try {
      listing = fs.readdirSync(posix.resolve(cwd, folder || '.'));
    } catch {
      continue;
    }
    for (const name of listing) if (name.startsWith(prefix)) names.add(name);
  }
  return names;
}

function commands(word, interpreter) {
  const { state } = interpreter.ctx;
  const aliases = [...state.env.keys()].filter((key) => key.startsWith('BASH_ALIAS_')).map((key) => key.slice(11));
  const known = [...shellBuiltins.keys(), ...ownBuiltins.keys(), ...KEYWORDS, ...state.functions.keys(), ...aliases];
  const names = executables(word, state);
  for (const name of known) if (name.startsWith(word) && /^\w/.test(name)) names.add(name);
  return [[...names].map((name) => `${name} `), word];
}

function isFolder(path, entry) {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

// Completes a path. The substring that is replaced is the last part of the path, so the list shows
// the names only.
function paths(word, { env, cwd }, onlyFolders) {
  const plain = unescaped(word);
  const at = plain.lastIndexOf('/') + 1;
  const [folder, prefix] = [plain.slice(0, at), plain.slice(at)];
  const home = env.get('HOME') ?? '/';
  const place = posix.resolve(cwd, folder.startsWith('~/') ? home + folder.slice(1) : folder || '.');
  let entries;
  try {
    entries = fs.readdirSync(place, { withFileTypes: true });
  } catch {
    return [[], word];
  }
  const found = [];
  for (const entry of entries) {
    if (!entry.name.startsWith(prefix) || (prefix === '' && entry.name.startsWith('.'))) continue;
    const isDirectory = isFolder(posix.join(place, entry.name), entry);
    if (!onlyFolders || isDirectory) found.push(`${escaped(entry.name)}${isDirectory ? '/' : ' '}`);
  }
  return [found, word.slice(word.lastIndexOf('/') + 1)];
}

function candidates(line, interpreter) {
  const { state } = interpreter.ctx;
  const [word] = LAST_WORD.exec(line);
  const before = line.slice(0, line.length - word.length);
  if (/\$\{?\w*$/.test(word)) return variables(word, state);
  if (/^~[^/]*$/.test(word)) return [['~/'], word];
  const value = word.slice(word.lastIndexOf('=') + 1);
  if (BEFORE_COMMAND.test(before) && !word.includes('/') && !word.includes('=')) return commands(word, interpreter);
  return paths(value, state, /(?:^|[;&|(]\s*)(?:cd|rmdir|pushd)\s+$/.test(before));
}

/**
 * Returns the completions of a line, and the part of the line that they replace. A list that is
 * completed further has no spaces after its names.
 */
export function complete(line, interpreter) {
  const [found, part] = candidates(line, interpreter);
  const sorted = found.sort().slice(0, MOST);
  return [sorted.length > 1 ? sorted.map((name) => name.trimEnd()) : sorted, part];
}
