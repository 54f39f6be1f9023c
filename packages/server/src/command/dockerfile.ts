// Reads a Dockerfile for `coldframe template build`: FROM, COPY, RUN, ENV, WORKDIR, USER, CMD and
// ENTRYPOINT. Every other instruction is refused, because a template would lack its effect.

import { CommandError } from './call.js';

/** A step of a build. */
export interface Step {
  type: 'COPY' | 'RUN' | 'ENV' | 'WORKDIR' | 'USER';
  args: string[];
}

/** The content of a Dockerfile. */
export interface Dockerfile {
  from: string;
  steps: Step[];
  /** The command that starts with every sandbox. */
  startCmd: string | undefined;
}

/** Instructions without an effect on the files and the environment of a sandbox. */
const IGNORED = new Set(['EXPOSE', 'LABEL', 'MAINTAINER', 'STOPSIGNAL', 'SHELL', 'HEALTHCHECK']);

/** Parses a Dockerfile. @throws {CommandError} that names the line */
export function parseDockerfile(text: string): Dockerfile {
  let from: string | undefined;
  let startCmd: string | undefined;
  const steps: Step[] = [];
  for (const { line, number } of instructionsOf(text)) {
    const [, word = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(line) ?? [];
    const name = word.toUpperCase();
    const refuse = (reason: string): never => {
      throw new CommandError(`line ${number}: ${reason}: ${line}`, 'Change the Dockerfile.');
    };
    if (name === 'FROM') {
      if (from !== undefined) refuse('a build has one stage');
      if (/\s/.test(rest)) refuse('FROM has only the name of an image');
      from = rest;
    } else if (from === undefined) refuse('the first instruction must be FROM');
    else if (name === 'RUN') steps.push({ type: 'RUN', args: [isList(rest) ? quoted(listOf(rest, refuse)) : rest] });
    else if (name === 'COPY') steps.push(...copyOf(rest, refuse));
    else if (name === 'ENV') steps.push({ type: 'ENV', args: pairsOf(rest, refuse) });
    else if (name === 'WORKDIR' || name === 'USER') steps.push({ type: name, args: [rest] });
    else if (name === 'CMD' || name === 'ENTRYPOINT') startCmd = isList(rest) ? quoted(listOf(rest, refuse)) : rest;
    else if (!IGNORED.has(name)) refuse('this instruction is not available');
  }
  if (from === undefined) throw new CommandError('the Dockerfile has no FROM', 'Change the Dockerfile.');
  return { from, steps, startCmd };
}

type Refuse = (reason: string) => never;

// Joins continued lines, and leaves out comments.
function instructionsOf(text: string): { line: string; number: number }[] {
  const instructions: { line: string; number: number }[] = [];
  let open: { line: string; number: number } | undefined;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const trimmed = raw.trim();
    if (trimmed.startsWith('#') || (trimmed === '' && open === undefined)) continue;
    const continues = trimmed.endsWith('\\');
    const part = continues ? trimmed.slice(0, -1).trimEnd() : trimmed;
    open = open === undefined ? { line: part, number: index + 1 } : { ...open, line: `${open.line} ${part}`.trim() };
    if (continues) continue;
    instructions.push(open);
    open = undefined;
  }
  if (open !== undefined) instructions.push(open);
  return instructions;
}

const isList = (text: string): boolean => text.startsWith('[');

function listOf(text: string, refuse: Refuse): string[] {
  try {
    const list: unknown = JSON.parse(text);
    if (Array.isArray(list) && list.every((item) => typeof item === 'string')) return list;
  } catch {
    // Not JSON: refused below.
  }
  return refuse('expected a list of texts in JSON');
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

function copyOf(rest: string, refuse: Refuse): Step[] {
  let owner = '';
  let mode = '';
  const words: string[] = [];
  for (const word of isList(rest) ? listOf(rest, refuse) : rest.split(/\s+/)) {
    if (word.startsWith('--chown=')) owner = word.slice('--chown='.length);
    else if (word.startsWith('--chmod=')) mode = word.slice('--chmod='.length);
    else if (word.startsWith('--')) refuse('this option of COPY is not available');
    else words.push(word);
  }
  const target = words.pop();
  if (target === undefined || words.length === 0) return refuse('expected SOURCE... TARGET');
  return words.map((source) => ({ type: 'COPY', args: [source, target, owner, mode] }));
}

const PAIR = /([A-Za-z_]\w*)=(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S*))\s*/gy;

function pairsOf(rest: string, refuse: Refuse): string[] {
  const [, name, value] = /^([A-Za-z_]\w*)\s+(.*)$/s.exec(rest) ?? [];
  if (name !== undefined && value !== undefined) return [name, value];
  const pairs: string[] = [];
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < rest.length) {
    const match = PAIR.exec(rest);
    if (match === null) return refuse('expected NAME=VALUE');
    const [, key = '', double, single, bare] = match;
    pairs.push(key, double?.replaceAll(/\\(.)/g, '$1') ?? single ?? bare ?? '');
  }
  return pairs.length > 0 ? pairs : refuse('expected NAME=VALUE');
}
