// Finds the right name for a wrong name: a name of another library, an option of another call, or a
// misspelled name. The names are in the tables of options, which are read when the first wrong name
// appears.

import type { InnerOptions, Rule } from './rule.js';
import type { AnyTable, Option } from './table.js';

type Calls = Readonly<Record<string, Rule>>;

/** An option, and the calls that have it. */
interface Place {
  readonly name: string;
  /** The name with the options around it, such as `limits.memoryBytes`. */
  readonly path: string;
  readonly option: Option;
  readonly calls: Set<string>;
}

/** All options of all calls. */
interface Index {
  readonly places: Map<string, Place>;
  readonly tables: Set<AnyTable>;
}

/**
 * Option names of other libraries that correspond to no single option of this package, with a hint
 * for each name.
 */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  __proto__: null as never,
  loopbackExemptPorts: '`exposePort()`, a call: guest ports are reached by calls of the app and by nothing else',
  pollIntervalMs: '`timeoutMs`: listeners are awaited by events, not by polling',
  nodeOptions: '`execArgv`, or NODE_OPTIONS in `env`',
  onOutput: '`onStdout` and `onStderr`',
  allowNetwork: '`permissions.network` of NodeRuntime.create()',
};

/** The largest number of calls that a message names. */
const MAX_CALLS = 6;
/**
 * Calls that no message names, because messages name a similar call: `execCommand()`, `execFile()`
 * and `ResidentRunner.exec()`.
 */
const UNNAMED_CALLS: ReadonlySet<string> = new Set([
  'spawnCommand()',
  'execFiles()',
  'ResidentRunner.run()',
  'ResidentRunner.cell()',
]);

let index: Index | undefined;

/** Returns a sentence with the right name for a name that `table` does not have, or `undefined`. */
export function hintFor(name: string, table: AnyTable, call: string, calls: Calls): string | undefined {
  index ??= indexOf(calls);
  const { places, tables } = index;
  const right = nearest(name, Object.keys(table));
  if (!tables.has(table)) {
    // For a name in a policy, only the options next to the name are searched.
    const own = Object.keys(table).find((option) => table[option]?.aliases?.names.includes(name)) ?? right;
    return own && `It is called \`${own}\`.`;
  }
  if (OTHER_NAMES[name] !== undefined) return `It is called ${OTHER_NAMES[name]}.`;
  const all = [...places.values()];
  const alias = all.find(({ option }) => option.aliases?.names.includes(name));
  if (alias !== undefined) {
    const elsewhere = alias.calls.has(call) ? '' : `, and an option of ${listOf(alias.calls)}`;
    return `It is called \`${alias.path}\`${alias.option.aliases?.note}${elsewhere}.`;
  }
  const same = places.get(name) ?? all.find((place) => place.name === name);
  if (same !== undefined) {
    const inner = same.path === name ? '' : ` It is \`${same.path}\` there.`;
    return `It is an option of ${listOf(same.calls)}.${inner}`;
  }
  const spelled = right ?? all.find((place) => place.name.toLowerCase() === name.toLowerCase())?.name;
  return spelled && `It is spelled \`${spelled}\`.`;
}

function indexOf(calls: Calls): Index {
  const places = new Map<string, Place>();
  const tables = new Set<AnyTable>();
  const add = (call: string, { options, prefix }: InnerOptions, above: string): void => {
    tables.add(options);
    for (const [name, option] of Object.entries(options)) {
      const path = above === '' ? name : above + prefix + name;
      const place = places.get(path) ?? { name, path, option, calls: new Set<string>() };
      place.calls.add(call);
      places.set(path, place);
      if (option.inner !== undefined) add(call, option.inner, path);
    }
  };
  for (const [call, { inner }] of Object.entries(calls)) if (inner !== undefined) add(call, inner, '');
  return { places, tables };
}

function listOf(calls: ReadonlySet<string>): string {
  const named = [...calls].filter((call) => !UNNAMED_CALLS.has(call));
  return named.length > MAX_CALLS ? `${named.slice(0, MAX_CALLS).join(', ')} and others` : named.join(', ');
}

/**
 * Returns the closest of `names` if it differs from `name` by at most two edits, or one edit for a
 * short name.
 */
export function nearest(name: string, names: readonly string[]): string | undefined {
  const bound = name.length < 6 ? 1 : 2;
  const [first] = names
    .map((one) => ({ one, edits: distance(name.toLowerCase(), one.toLowerCase()) }))
    .filter(({ edits }) => edits <= bound)
    .sort((a, b) => a.edits - b.edits);
  return first?.one;
}

// Returns the number of edits between two words. An edit inserts, removes or replaces a letter, or
// swaps two adjacent letters.
function distance(from: string, to: string): number {
  let [before, last, row]: [number[], number[], number[]] = [[], [], Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    [before, last, row] = [last, row, [i]];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      const edits = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1)];
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) edits.push((before[j - 2] ?? 0) + 1);
      row.push(Math.min(...edits));
    }
  }
  return row[to.length] ?? 0;
}
