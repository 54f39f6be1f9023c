// `ls`. just-bash's own version shows no modes, owners and links, because most filesystems below
// just-bash have no modes, owners and links. Next: commands.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { names } from './accounts.js';
import { reasonOf } from './reasons.js';

const FLAGS = 'aAlhRrStd1Fincpug';
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const HALF_A_YEAR_MS = 15_778_476_000;
const KINDS = [
  ['isDirectory', 'd', '/'],
  ['isSymbolicLink', 'l', '@'],
  ['isCharacterDevice', 'c', ''],
  ['isSocket', 's', '='],
  ['isFIFO', 'p', '|'],
];
const KILO = 1024;

/** Runs `ls ARGUMENTS` in the directory `cwd`. */
export function ls(args, { cwd }) {
  const flags = new Set();
  const paths = [];
  for (const arg of args) {
    if (!arg.startsWith('-') || arg === '-') paths.push(arg);
    else if (arg === '--all') flags.add('a');
    else if (arg.startsWith('--')) continue;
    else for (const flag of arg.slice(1)) flags.add(flag);
  }
  const bad = [...flags].find((flag) => !FLAGS.includes(flag));
  if (bad) return { stdout: '', stderr: `ls: invalid option -- '${bad}'\n`, exitCode: 2 };
  return new Listing(flags, cwd).list(paths.length === 0 ? ['.'] : paths);
}

class Listing {
  #flags;
  #cwd;
  #blocks = [];
  #stderr = '';
  #exitCode = 0;
  #names;

  constructor(flags, cwd) {
    this.#flags = flags;
    this.#cwd = cwd;
    this.#names = flags.has('n') ? { user: String, group: String } : names();
  }

  list(paths) {
    const found = paths.map((path) => this.#look(path, path, !this.#flags.has('d'))).filter(Boolean);
    const isListed = ({ stats }) => stats.isDirectory() && !this.#flags.has('d');
    const single = found.filter((entry) => !isListed(entry));
    if (single.length > 0) this.#blocks.push(this.#lines(this.#sort(single)));
    const titled = paths.length > 1 || this.#flags.has('R');
    for (const { name } of this.#sort(found.filter(isListed))) this.#directory(name, titled);
    return { stdout: this.#blocks.join('\n'), stderr: this.#stderr, exitCode: this.#exitCode };
  }

  #look(path, name, follow = false) {
    const whole = posix.resolve(this.#cwd, path);
    try {
      const stats = fs.lstatSync(whole);
      // `ls` follows a link that is named as an argument, unless an option (`-l`, `-d`) describes
      // the link.
      const target =
        stats.isSymbolicLink() && follow && !this.#flags.has('l') ? fs.statSync(whole, { throwIfNoEntry: false }) : undefined;
      return { name, whole, stats: target ?? stats };
    } catch (error) {
      this.#fail(`cannot access '${path}'`, error, 2);
      return undefined;
    }
  }

  #fail(what, error, exitCode) {
    this.#stderr += `ls: ${what}: ${reasonOf(error)}\n`;
    this.#exitCode = Math.max(this.#exitCode, exitCode);
  }

  #directory(path, titled) {
    let names;
    try {
      names = fs.readdirSync(posix.resolve(this.#cwd, path));
    } catch (error) {
      return this.#fail(`cannot open directory '${path}'`, error, 2);
    }
    if (!this.#flags.has('a') && !this.#flags.has('A')) names = names.filter((name) => !name.startsWith('.'));
    else if (this.#flags.has('a')) names.push('.', '..');
    const entries = this.#sort(names.map((name) => this.#look(`${path}/${name}`, name)).filter(Boolean));
    const blocks = entries.reduce((sum, { stats }) => sum + stats.blocks, 0) / 2;
    const total = this.#flags.has('l') ? `total ${this.#flags.has('h') ? human(blocks * KILO) : blocks}\n` : '';
    this.#blocks.push(`${titled ? `${path}:\n` : ''}${total}${this.#lines(entries)}`);
    if (!this.#flags.has('R')) return undefined;
    const below = entries.filter(({ name, stats }) => stats.isDirectory() && name !== '.' && name !== '..');
    for (const { name } of below) this.#directory(path === '/' ? `/${name}` : `${path}/${name}`, true);
    return undefined;
  }

  #sort(entries) {
    const byName = (a, b) => (a.name < b.name ? -1 : Number(a.name > b.name));
    const by = this.#flags.has('S')
      ? (a, b) => b.stats.size - a.stats.size || byName(a, b)
      : this.#flags.has('t')
        ? (a, b) => b.stats.mtimeMs - a.stats.mtimeMs || byName(a, b)
        : byName;
    const sorted = [...entries].sort(by);
    return this.#flags.has('r') ? sorted.reverse() : sorted;
  }

  #lines(entries) {
    if (!this.#flags.has('l')) return entries.map((entry) => `${this.#number(entry)}${this.#shown(entry)}\n`).join('');
    const rows = entries.map((entry) => this.#row(entry));
    const widths = [0, 1, 2, 3, 4].map((column) => Math.max(0, ...rows.map((row) => row[column].length)));
    const cell = (text, column) =>
      column === 2 || column === 3 ? text.padEnd(widths[column]) : text.padStart(widths[column] ?? 0);
    return rows.map((row) => `${row.map(cell).join(' ')}\n`).join('');
  }

  #number = ({ stats }) => (this.#flags.has('i') ? `${stats.ino} ` : '');

  #shown({ name, stats }) {
    if (!this.#flags.has('F') && !this.#flags.has('p')) return name;
    const mark = KINDS.find(([is]) => stats[is]())?.[2] ?? (stats.mode & 0o111 ? '*' : '');
    return this.#flags.has('F') || mark === '/' ? `${name}${mark}` : name;
  }

  #row(entry) {
    const { stats, whole } = entry;
    const link = stats.isSymbolicLink() ? ` -> ${fs.readlinkSync(whole)}` : '';
    const size = this.#flags.has('h') ? human(stats.size) : String(stats.size);
    const { user, group } = this.#names;
    return [
      `${this.#number(entry)}${modeText(stats)}`,
      String(stats.nlink),
      user(stats.uid),
      group(stats.gid),
      size,
      dateText(stats.mtime),
      `${this.#shown(entry)}${link}`,
    ];
  }
}

/** Returns a mode in the form of `drwxr-xr-x`. */
export function modeText(stats) {
  const kind = KINDS.find(([is]) => stats[is]())?.[1] ?? '-';
  const bits = [...'rwxrwxrwx'].map((letter, index) => (stats.mode & (0o400 >> index) ? letter : '-'));
  const special = [
    [0o4000, 2, 's', 'S'],
    [0o2000, 5, 's', 'S'],
    [0o1000, 8, 't', 'T'],
  ];
  for (const [bit, at, set, unset] of special) if (stats.mode & bit) bits[at] = bits[at] === 'x' ? set : unset;
  return kind + bits.join('');
}

function dateText(date) {
  const day = `${MONTHS[date.getMonth()]} ${String(date.getDate()).padStart(2)}`;
  const age = Date.now() - date.getTime();
  const two = (number) => String(number).padStart(2, '0');
  const isRecent = age < HALF_A_YEAR_MS && age > -HALF_A_YEAR_MS;
  return `${day} ${isRecent ? `${two(date.getHours())}:${two(date.getMinutes())}` : ` ${date.getFullYear()}`}`;
}

function human(bytes) {
  if (bytes < KILO) return String(bytes);
  let unit = 0;
  let size = bytes / KILO;
  for (; size >= KILO && unit < 4; unit++) size /= KILO;
  return `${size < 10 ? (Math.ceil(size * 10) / 10).toFixed(1) : Math.ceil(size)}${'KMGTP'[unit]}`;
}
