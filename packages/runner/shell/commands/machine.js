// df, free, uptime, arch, getent and install. Next: identity.js.

import fs from 'node:fs';
import os from 'node:os';
import { posix } from 'node:path';
import { idOf } from '../accounts.js';
import { reasonOf } from '../reasons.js';

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `${stderr}\n`, exitCode });
const KIB = 1_024;
const UNCHANGED = -1;

function human(kib, base) {
  let value = kib * KIB;
  for (const unit of ['', 'K', 'M', 'G', 'T', 'P']) {
    if (value < base || unit === 'P')
      return unit === '' ? `${value}` : `${value < 10 ? (Math.ceil(value * 10) / 10).toFixed(1) : Math.ceil(value)}${unit}`;
    value /= base;
  }
  return '';
}

// Returns the mount of each path, or all mounts.
function mountsOf(paths, cwd) {
  const mounts = fs
    .readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split(' '))
    .map(([device, at, type]) => ({ device, at, type }));
  if (paths.length === 0) return mounts.filter(({ type }) => type !== 'proc');
  return paths.map((path) => {
    const real = fs.realpathSync(posix.resolve(cwd, path));
    const holds = ({ at }) => real === at || at === '/' || real.startsWith(`${at}/`);
    return mounts.filter(holds).sort((a, b) => b.at.length - a.at.length)[0];
  });
}

export function df(args, { cwd }) {
  const flags = args.filter((arg) => /^-[a-zA-Z]+$/.test(arg)).join('');
  const paths = args.filter((arg) => !arg.startsWith('-'));
  const missing = paths.find((path) => !fs.existsSync(posix.resolve(cwd, path)));
  if (missing !== undefined) return fail(`df: ${missing}: No such file or directory`);
  const [isHuman, hasType, isInodes] = ['h', 'T', 'i'].map((letter) => flags.includes(letter));
  const show = (kib) => (isHuman ? human(kib, KIB) : flags.includes('m') ? `${Math.ceil(kib / KIB)}` : `${kib}`);
  const size = isHuman ? 'Size' : flags.includes('m') ? '1M-blocks' : '1K-blocks';
  const heads = isInodes ? ['Inodes', 'IUsed', 'IFree', 'IUse%'] : [size, 'Used', isHuman ? 'Avail' : 'Available', 'Use%'];
  const rows = mountsOf(paths, cwd).map(({ device, at, type }) => {
    const { blocks, bfree, bavail, bsize, files, ffree } = fs.statfsSync(at);
    const kib = (count) => Math.round((count * bsize) / KIB);
    const [used, available] = isInodes ? [files - ffree, ffree] : [kib(blocks - bfree), kib(bavail)];
    const percent = used + available > 0 ? `${Math.ceil((100 * used) / (used + available))}%` : '-';
    const whole = isInodes ? [files, used, available].map(String) : [show(kib(blocks)), show(used), show(available)];
    return [device, ...(hasType ? [type] : []), ...whole, percent, at];
  });
  const table = [['Filesystem', ...(hasType ? ['Type'] : []), ...heads, 'Mounted on'], ...rows];
  const widths = table[0].map((_, index) => Math.max(...table.map((row) => row[index].length)));
  widths[0] = Math.max(widths[0], 14);
  const lines = table.map((row) =>
    row
      .map((cell, index) => {
        if (index === row.length - 1) return cell;
        return index === 0 || (hasType && index === 1) ? cell.padEnd(widths[index]) : cell.padStart(widths[index]);
      })
      .join(' '),
  );
  return ok(lines.map((line) => `${line}\n`).join(''));
}

export function free(args) {
  const flags = args.join('');
  const fields = new Map(
    fs
      .readFileSync('/proc/meminfo', 'utf8')
      .matchAll(/^(\w+):\s+(\d+)/gm)
      .map(([, name, value]) => [name, Number(value)]),
  );
  const get = (name) => fields.get(name) ?? 0;
  const show = (kib) => {
    if (flags.includes('h')) return human(kib, KIB).replace(/([KMGT])$/, '$1i');
    return String(
      flags.includes('b')
        ? kib * KIB
        : flags.includes('m')
          ? Math.floor(kib / KIB)
          : flags.includes('g')
            ? Math.floor(kib / KIB ** 2)
            : kib,
    );
  };
  const total = get('MemTotal');
  const cache = get('Buffers') + get('Cached');
  const memory = [total, total - get('MemAvailable'), get('MemFree'), get('Shmem'), cache, get('MemAvailable')];
  const swap = [get('SwapTotal'), get('SwapTotal') - get('SwapFree'), get('SwapFree')];
  const line = (name, cells) =>
    `${name.padEnd(8)}${cells.map((cell) => String(cell).padStart(12)).join('')}\n`.replace(/^(.{8}) /, '$1 ');
  return ok(
    line('', ['total', 'used', 'free', 'shared', 'buff/cache', 'available']) +
      line('Mem:', memory.map(show)) +
      line('Swap:', swap.map(show)),
  );
}

export function uptime(args) {
  const seconds = Math.floor(os.uptime());
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60];
  const plural = (count, name) => `${count} ${name}${count === 1 ? '' : 's'}`;
  if (args.some((arg) => arg === '-p' || arg === '--pretty')) {
    const parts = [days > 0 && plural(days, 'day'), hours > 0 && plural(hours, 'hour'), plural(minutes, 'minute')];
    return ok(`up ${parts.filter(Boolean).join(', ')}\n`);
  }
  const clock = hours > 0 ? `${String(hours).padStart(2)}:${String(minutes).padStart(2, '0')}` : `${minutes} min`;
  const up = `${days > 0 ? `${plural(days, 'day')}, ` : ''}${clock}`;
  const load = os.loadavg().map((value) => value.toFixed(2));
  return ok(` ${new Date().toTimeString().slice(0, 8)} up ${up},  0 users,  load average: ${load.join(', ')}\n`);
}

export const arch = () => ok(`${os.machine()}\n`);

const DATABASES = { __proto__: null, passwd: '/etc/passwd', group: '/etc/group', hosts: '/etc/hosts' };

export function getent([database, ...keys]) {
  if (DATABASES[database] === undefined) return fail(`Unknown database: ${database}\nTry \`getent --help' for more information.`);
  const lines = fs.readFileSync(DATABASES[database], 'utf8').split('\n').filter(Boolean);
  const isHosts = database === 'hosts';
  const has = (line, key) => (isHosts ? line.split(/\s+/).includes(key) : [0, 2].some((field) => line.split(':')[field] === key));
  const shown = keys.length === 0 ? lines : keys.map((key) => lines.find((line) => has(line, key)));
  const found = shown.filter((line) => line !== undefined);
  const print = (line) => (isHosts ? line.replace(/^(\S+)\s+/, (_, address) => `${address.padEnd(15)} `) : line);
  return { ...ok(found.map((line) => `${print(line)}\n`).join('')), exitCode: found.length === shown.length ? 0 : 2 };
}

function installFiles({ operands, mode, owner, isVerbose, folder, makesParents, cwd }) {
  const targets = folder === undefined ? operands.slice(0, -1) : operands;
  const last = posix.resolve(cwd, folder ?? operands.at(-1));
  const isFolder = folder !== undefined || fs.statSync(last, { throwIfNoEntry: false })?.isDirectory();
  if (makesParents) fs.mkdirSync(folder === undefined ? posix.dirname(last) : last, { recursive: true });
  let shown = '';
  for (const from of targets) {
    const to = isFolder ? posix.join(last, posix.basename(from)) : last;
    fs.rmSync(to, { force: true });
    fs.copyFileSync(posix.resolve(cwd, from), to);
    fs.chownSync(to, ...owner);
    fs.chmodSync(to, mode);
    if (isVerbose) shown += `'${from}' -> '${to}'\n`;
  }
  return ok(shown);
}

export function install(args, { cwd }) {
  let [mode, makesFolders, makesParents, isVerbose, folder] = [0o755, false, false, false, undefined];
  const operands = [];
  const owner = [UNCHANGED, UNCHANGED];
  for (let at = 0; at < args.length; at++) {
    const word = args[at];
    if (word === '-m' || word === '--mode') mode = Number.parseInt(args[++at], 8);
    else if (/^(?:-m|--mode=)/.test(word)) mode = Number.parseInt(word.replace(/^(?:-m|--mode=)/, ''), 8);
    else if (word === '-t') folder = args[++at];
    else if (word === '-o') owner[0] = idOf('/etc/passwd', args[++at] ?? '');
    else if (word === '-g') owner[1] = idOf('/etc/group', args[++at] ?? '');
    else if (/^-[dDvpcC]+$/.test(word)) {
      makesFolders ||= word.includes('d');
      makesParents ||= word.includes('D');
      isVerbose ||= word.includes('v');
    } else if (/^-./.test(word)) return fail(`install: unrecognized option '${word}'`);
    else operands.push(word);
  }
  if (Number.isNaN(mode)) return fail('install: invalid mode');
  if (owner.includes(undefined)) return fail('install: invalid user or group');
  if (operands.length === 0) return fail('install: missing file operand');
  try {
    if (!makesFolders) return installFiles({ operands, mode, owner, isVerbose, folder, makesParents, cwd });
    for (const path of operands) {
      fs.mkdirSync(posix.resolve(cwd, path), { recursive: true });
      fs.chownSync(posix.resolve(cwd, path), ...owner);
      fs.chmodSync(posix.resolve(cwd, path), mode);
    }
    return ok();
  } catch (error) {
    return fail(`install: cannot install '${operands[0]}': ${reasonOf(error)}`);
  }
}
