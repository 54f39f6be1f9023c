// ps, pgrep, pkill, pidof and killall over the process table of the runtime. Next:
// process-table.js.

import { write } from '../descriptors.js';
import { signalNumber } from '../processes.js';
import { processTable, totalMemory } from './process-table.js';

const pad = (value) => String(value).padStart(2, '0');

function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${pad(Math.floor(whole / 3_600))}:${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}`;
}

function elapsed(seconds) {
  const whole = Math.floor(seconds);
  const [days, hours] = [Math.floor(whole / 86_400), Math.floor(whole / 3_600) % 24];
  const rest = `${pad(Math.floor(whole / 60) % 60)}:${pad(whole % 60)}`;
  return days > 0 ? `${days}-${pad(hours)}:${rest}` : hours > 0 ? `${pad(hours)}:${rest}` : rest;
}

function begun({ elapsed: seconds }) {
  const date = new Date(Date.now() - seconds * 1_000);
  return `${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

// Column → header, value, width, and whether the value is aligned at the left.
const COLUMNS = {
  __proto__: null,
  pid: ['PID', (process) => process.pid, 7],
  ppid: ['PPID', (process) => process.ppid, 7],
  pgid: ['PGID', (process) => process.pgid, 7],
  sid: ['SID', (process) => process.sid, 7],
  user: ['USER', (process) => process.user, 8, true],
  uid: ['UID', (process) => process.uid, 5],
  cpu: ['%CPU', (process) => process.cpu.toFixed(1), 4],
  mem: ['%MEM', (process) => ((100 * process.rss) / Math.max(1, totalMemory())).toFixed(1), 4],
  vsz: ['VSZ', (process) => process.vsz, 6],
  rss: ['RSS', (process) => process.rss, 6],
  tty: ['TT', () => '?', 8, true],
  stat: ['STAT', (process) => process.state, 4, true],
  s: ['S', (process) => process.state, 1, true],
  start: ['STIME', begun, 5, true],
  time: ['TIME', (process) => clock(process.cpuSeconds), 8],
  etime: ['ELAPSED', (process) => elapsed(process.elapsed), 11],
  etimes: ['ELAPSED', (process) => Math.floor(process.elapsed), 7],
  ni: ['NI', (process) => process.nice, 3],
  nlwp: ['NLWP', (process) => process.threads, 4],
  c: ['C', (process) => Math.min(99, Math.floor(process.cpu)), 2],
  comm: ['COMMAND', (process) => process.name, 15, true],
  args: ['COMMAND', (process) => process.args, 27, true],
};
const SAME = {
  __proto__: null,
  cmd: ['args', 'CMD'],
  command: ['args'],
  ucmd: ['comm', 'CMD'],
  ucomm: ['comm'],
  state: ['s'],
  pcpu: ['cpu'],
  '%cpu': ['cpu'],
  pmem: ['mem'],
  '%mem': ['mem'],
  vsize: ['vsz'],
  rssize: ['rss'],
  rsz: ['rss'],
  euser: ['user', 'EUSER'],
  tt: ['tty'],
  tname: ['tty', 'TTY'],
  pgrp: ['pgid'],
  sess: ['sid'],
  session: ['sid'],
  stime: ['start'],
  nice: ['ni'],
  cputime: ['time'],
  euid: ['uid', 'EUID'],
};

const column = (name, header, width) => {
  const [known, own] = SAME[name] ?? [name];
  if (COLUMNS[known] === undefined) return undefined;
  const [title, value, least, left] = COLUMNS[known];
  return { name: known, header: header ?? own ?? title, value, width: width ?? least, left };
};

const LISTS = {
  plain: () => [column('pid'), column('tty', 'TTY'), column('time'), column('comm', 'CMD')],
  full: () => [
    column('user', 'UID'),
    column('pid'),
    column('ppid'),
    column('c'),
    column('start'),
    column('tty', 'TTY'),
    column('time'),
    column('args', 'CMD'),
  ],
  users: () => [
    column('user'),
    column('pid'),
    column('cpu'),
    column('mem'),
    column('vsz'),
    column('rss'),
    column('tty', 'TTY'),
    column('stat'),
    column('start', 'START'),
    column('time', undefined, 6),
    column('args'),
  ],
};

function readColumns(text, columns) {
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const [name, header] = part.split('=');
    const found = column(name, part.includes('=') ? header : undefined);
    if (found === undefined) throw new Error(`error: unknown user-defined format specifier "${name}"`);
    columns.push(found);
  }
}

const numbers = (text) => text.split(/[\s,]+/).map(Number);

function readPs(args) {
  const read = { columns: [], list: 'plain', headers: true, tests: [], sort: [] };
  const words = [...args];
  const wants = (test) => read.tests.push(test);
  while (words.length > 0) {
    const word = words.shift();
    const [, long, attached] = /^(--[a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    const value = () => attached ?? words.shift() ?? '';
    if (long === '--no-headers' || long === '--no-heading') read.headers = false;
    else if (long === '--sort') read.sort = value().split(',');
    else if (long === '--pid') wants(of('pid', numbers(value())));
    else if (long === '--ppid') wants(of('ppid', numbers(value())));
    else if (long === '--format') readColumns(value(), read.columns);
    else if (long === '--forest' || long === '--headers') continue;
    else if (long !== undefined) throw new Error('error: unknown gnu long option');
    else if (/^\d[\d,]*$/.test(word)) wants(of('pid', numbers(word)));
    else readLetters(word, words, read, wants);
  }
  return read;
}

const ofUsers = (users) => (process) => users.includes(process.user) || users.includes(String(process.uid));
const of = (field, values) => (process) => values.includes(process[field]);

function readLetters(word, words, read, wants) {
  const isUnix = word.startsWith('-');
  const letters = isUnix ? word.slice(1) : word;
  for (let at = 0; at < letters.length; at++) {
    const value = () => {
      const rest = letters.slice(at + 1);
      at = letters.length;
      return rest || (words.shift() ?? '');
    };
    const letter = letters[at];
    if (letter === 'o' || letter === 'O') readColumns(value(), read.columns);
    else if (letter === 'p') wants(of('pid', numbers(value())));
    else if (letter === 'k' && !isUnix) read.sort = value().split(',');
    else if (letter === 'C' && isUnix) wants(of('name', value().split(',')));
    else if (letter === 'g' && isUnix) wants(of('sid', numbers(value())));
    else if ((letter === 'u' || letter === 'U') && isUnix) {
      wants(ofUsers(value().split(',')));
    } else if (letter === 'u') read.list = 'users';
    else if (letter === 'f' && isUnix) read.list = 'full';
    else if (letter === 'h' && !isUnix) read.headers = false;
    else if (!/[aAdeHlwTxNfS]/.test(letter)) throw new Error('error: unsupported option (BSD syntax)');
  }
}

const VALUES = { rss: 'rss', vsz: 'vsz', cpu: 'cpu', mem: 'rss', pid: 'pid', ppid: 'ppid', time: 'cpuSeconds', etime: 'elapsed' };

function sorted(rows, keys) {
  const order = keys.map((key) => {
    const [, sign, name] = /^([+-]?)(.*)$/.exec(key);
    return [sign === '-' ? -1 : 1, VALUES[column(name)?.name] ?? 'name'];
  });
  return rows.sort((a, b) => {
    const [sign, field] = order.find(([, field]) => a[field] !== b[field]) ?? [0, 'pid'];
    return sign * (a[field] < b[field] ? -1 : 1);
  });
}

function ps(args) {
  const { columns, list, headers, tests, sort } = readPs(args);
  const shown = columns.length > 0 ? columns : LISTS[list]();
  const rows = sorted(
    processTable().filter((process) => tests.length === 0 || tests.some((test) => test(process))),
    sort,
  );
  const cells = rows.map((process) => shown.map(({ value }) => String(value(process))));
  const hasHeader = headers && shown.some(({ header }) => header !== '');
  const lines = hasHeader ? [shown.map(({ header }) => header), ...cells] : cells;
  const widths = shown.map(({ width, header }, index) =>
    Math.max(columns.length > 0 ? 0 : width, header.length, ...cells.map((row) => row[index].length)),
  );
  const line = (row) =>
    row
      .map((cell, index) => {
        if (!shown[index].left) return cell.padStart(widths[index]);
        return index === row.length - 1 ? cell : cell.padEnd(widths[index]);
      })
      .join(' ');
  return { stdout: lines.map((row) => `${line(row)}\n`).join(''), exitCode: rows.length > 0 ? 0 : 1 };
}

/** Runs `ps` as a process of its own, which the table then contains. */
export function runPs(args) {
  try {
    const { stdout, exitCode } = ps(args);
    write(1, Buffer.from(stdout));
    return exitCode;
  } catch (error) {
    write(2, Buffer.from(`${error.message}\n`));
    return 1;
  }
}

function readPattern(args, isKill) {
  const read = {
    signal: 15,
    full: false,
    exact: false,
    list: false,
    all: false,
    count: false,
    negated: false,
    icase: false,
    end: '\n',
  };
  const tests = [];
  const words = [...args];
  const operands = [];
  while (words.length > 0) {
    const word = words.shift();
    const number = isKill && /^-./.test(word) ? signalNumber(word.slice(1)) : undefined;
    if (number !== undefined) read.signal = number;
    else if (word === '--signal') read.signal = signalNumber(words.shift() ?? '');
    else if (word.startsWith('--signal=')) read.signal = signalNumber(word.slice(9));
    else if (word === '-P' || word === '--parent') tests.push(of('ppid', numbers(words.shift() ?? '')));
    else if (word === '-d') read.end = words.shift() ?? '\n';
    else if (word === '-u' || word === '-U') tests.push(ofUsers((words.shift() ?? '').split(',')));
    else if (/^-[a-z]+$/.test(word))
      for (const letter of word.slice(1)) {
        const name = {
          f: 'full',
          x: 'exact',
          l: 'list',
          a: 'all',
          c: 'count',
          v: 'negated',
          i: 'icase',
          n: 'newest',
          o: 'oldest',
          e: 'echo',
        }[letter];
        if (name === undefined) return { bad: `invalid option -- '${letter}'` };
        read[name] = true;
      }
    else if (/^--(?:full|exact|count)$/.test(word)) read[word.slice(2)] = true;
    else if (/^-./.test(word)) return { bad: `unrecognized option '${word}'` };
    else operands.push(word);
  }
  if (read.signal === undefined) return { bad: 'unknown signal' };
  if (operands.length > 1) return { bad: 'only one pattern can be provided' };
  if (operands.length + tests.length === 0) return { bad: 'no matching criteria specified' };
  return { ...read, tests, pattern: operands[0] };
}

function matching({ pattern, full, exact, icase, negated, tests, newest, oldest }) {
  const test = new RegExp(exact ? `^(?:${pattern ?? ''})$` : (pattern ?? ''), icase ? 'i' : '');
  const wanted = (candidate) => test.test(full ? candidate.args : candidate.name) && tests.every((check) => check(candidate));
  const found = processTable().filter((candidate) => candidate.pid !== process.pid && wanted(candidate) !== negated);
  return newest ? found.slice(-1) : oldest ? found.slice(0, 1) : found;
}

const failure = (command, reason) => ({
  stdout: '',
  stderr: `${command}: ${reason}\nTry \`${command} --help' for more information.\n`,
  exitCode: 2,
});

export function pgrep(args) {
  const read = readPattern(args, false);
  if (read.bad !== undefined) return failure('pgrep', read.bad);
  const found = matching(read);
  const shown = found.map(({ pid, name, args: words }) =>
    read.all ? `${pid} ${words}` : read.list ? `${pid} ${name}` : `${pid}`,
  );
  const stdout = read.count ? `${found.length}\n` : shown.length > 0 ? `${shown.join(read.end)}\n` : '';
  return { stdout, stderr: '', exitCode: found.length > 0 ? 0 : 1 };
}

export function pkill(args) {
  const read = readPattern(args, true);
  if (read.bad !== undefined) return failure('pkill', read.bad);
  const found = matching(read);
  const stdout = read.echo ? found.map(({ pid, name }) => `${name} killed (pid ${pid})\n`).join('') : '';
  for (const { pid } of found) send(pid, read.signal);
  return { stdout: read.count ? `${found.length}\n` : stdout, stderr: '', exitCode: found.length > 0 ? 0 : 1 };
}

function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

const ofName = (name) =>
  processTable().filter((candidate) => candidate.pid !== process.pid && (candidate.name === name || candidate.program === name));

export function pidof(args) {
  const pids = args.filter((arg) => !arg.startsWith('-')).flatMap((name) => ofName(name).map(({ pid }) => pid));
  const shown = args.includes('-s') ? pids.slice(-1) : pids.reverse();
  return { stdout: shown.length > 0 ? `${shown.join(' ')}\n` : '', stderr: '', exitCode: shown.length > 0 ? 0 : 1 };
}

export function killall(args) {
  let signal = 15;
  const names = [];
  let quiet = false;
  const words = [...args];
  while (words.length > 0) {
    const word = words.shift();
    if (word === '-q' || word === '--quiet') quiet = true;
    else if (word === '-s' || word === '--signal') signal = signalNumber(words.shift() ?? '');
    else if (/^-./.test(word)) signal = signalNumber(word.slice(1)) ?? signal;
    else names.push(word);
  }
  const missing = names.filter((name) => {
    const found = ofName(name);
    for (const { pid } of found) send(pid, signal);
    return found.length === 0;
  });
  const stderr = quiet ? '' : missing.map((name) => `${name}: no process found\n`).join('');
  return { stdout: '', stderr, exitCode: missing.length > 0 || names.length === 0 ? 1 : 0 };
}
