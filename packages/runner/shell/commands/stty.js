// stty: prints and changes the attributes of the terminal at standard input. The names and the
// order are from GNU coreutils. Next: terminal.js.

import kernel from 'coldframe:kernel';

const TERMINAL = 0;
const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr) => ({ stdout: '', stderr: `stty: ${stderr}\n`, exitCode: 1 });

// Flag → the word of the attributes, the bit, and whether `sane` sets the flag. Flags that are not
// part of `sane` have no third value.
const FLAGS = {
  __proto__: null,
  parenb: ['cflag', 0o400],
  parodd: ['cflag', 0o1000],
  hupcl: ['cflag', 0o2000],
  cstopb: ['cflag', 0o100],
  cread: ['cflag', 0o200, true],
  clocal: ['cflag', 0o4000],
  ignbrk: ['iflag', 0o1, false],
  brkint: ['iflag', 0o2, true],
  ignpar: ['iflag', 0o4],
  parmrk: ['iflag', 0o10],
  inpck: ['iflag', 0o20],
  istrip: ['iflag', 0o40],
  inlcr: ['iflag', 0o100, false],
  igncr: ['iflag', 0o200, false],
  icrnl: ['iflag', 0o400, true],
  ixon: ['iflag', 0o2000],
  ixoff: ['iflag', 0o10000, false],
  iuclc: ['iflag', 0o1000, false],
  ixany: ['iflag', 0o4000, false],
  imaxbel: ['iflag', 0o20000, true],
  iutf8: ['iflag', 0o40000],
  opost: ['oflag', 0o1, true],
  olcuc: ['oflag', 0o2, false],
  ocrnl: ['oflag', 0o10, false],
  onlcr: ['oflag', 0o4, true],
  onocr: ['oflag', 0o20, false],
  onlret: ['oflag', 0o40, false],
  ofill: ['oflag', 0o100, false],
  ofdel: ['oflag', 0o200, false],
  isig: ['lflag', 0o1, true],
  icanon: ['lflag', 0o2, true],
  iexten: ['lflag', 0o100000, true],
  echo: ['lflag', 0o10, true],
  echoe: ['lflag', 0o20, true],
  echok: ['lflag', 0o40, true],
  echonl: ['lflag', 0o100, false],
  noflsh: ['lflag', 0o200, false],
  xcase: ['lflag', 0o4, false],
  tostop: ['lflag', 0o400, false],
  echoprt: ['lflag', 0o2000, false],
  echoctl: ['lflag', 0o1000, true],
  echoke: ['lflag', 0o4000, true],
  flusho: ['lflag', 0o10000, false],
  extproc: ['lflag', 0o200000, false],
};
// Character → its index, and its value in `sane`.
const CHARACTERS = {
  __proto__: null,
  intr: [0, 3],
  quit: [1, 28],
  erase: [2, 127],
  kill: [3, 21],
  eof: [4, 4],
  eol: [11, 0],
  eol2: [16, 0],
  swtch: [7, 0],
  start: [8, 17],
  stop: [9, 19],
  susp: [10, 26],
  rprnt: [12, 18],
  werase: [14, 23],
  lnext: [15, 22],
  discard: [13, 15],
};
const NUMBERS = { __proto__: null, min: 6, time: 5 };
const WORDS = {
  __proto__: null,
  raw:
    '-ignbrk -brkint -ignpar -parmrk -inpck -istrip -inlcr -igncr -icrnl -ixon -ixoff -iuclc -ixany -imaxbel ' +
    '-opost -isig -icanon -xcase min 1 time 0',
  '-raw': 'brkint ignpar istrip icrnl ixon opost isig icanon',
  cooked: 'brkint ignpar istrip icrnl ixon opost isig icanon',
  '-cooked': 'raw',
  cbreak: '-icanon min 1 time 0',
  '-cbreak': 'icanon',
  nl: '-icrnl -onlcr',
  '-nl': 'icrnl -inlcr -igncr onlcr -ocrnl -onlret',
  ek: 'erase ^? kill ^U',
  dec: 'echoe echoctl echoke -ixany intr ^C erase ^? kill ^U',
  crterase: 'echoe',
  crtkill: 'echoke',
  ctlecho: 'echoctl',
  hup: 'hupcl',
  tandem: 'ixoff',
};

function setSane(attributes) {
  for (const [name, bit, isOn] of Object.values(FLAGS)) if (isOn !== undefined) set(attributes, name, bit, isOn);
  for (const [index, value] of Object.values(CHARACTERS)) attributes.cc[index] = value;
}

function set(attributes, name, bit, isOn) {
  attributes[name] = isOn ? attributes[name] | bit : attributes[name] & ~bit;
}

/** Sets the attributes of `stty sane` for a terminal. */
export function makeSane(fd) {
  const attributes = kernel.getAttributes(fd);
  setSane(attributes);
  kernel.setAttributes(fd, attributes);
}

const shown = (byte) => {
  if (byte === 0) return '<undef>';
  if (byte === 127) return '^?';
  return byte < 32 ? `^${String.fromCharCode(byte + 64)}` : String.fromCharCode(byte);
};

function byteOf(text) {
  if (text === '^-' || text === 'undef') return 0;
  if (text === '^?') return 127;
  if (/^\^.$/.test(text)) return text.toUpperCase().charCodeAt(1) & 0x1f;
  return /^\d+$/.test(text) ? Number(text) & 0xff : text.length === 1 ? text.charCodeAt(0) & 0xff : undefined;
}

// Breaks words into lines of at most the terminal's columns, as stty does.
function wrapped(words, columns) {
  const lines = [''];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === '') lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length < columns) lines[lines.length - 1] += ` ${word}`;
    else lines.push(word);
  }
  return `${lines.join('\n')}\n`;
}

function all(attributes, [columns, rows]) {
  const characters = Object.entries(CHARACTERS).map(([name, [index]]) => `${name} = ${shown(attributes.cc[index])};`);
  const numbers = Object.entries(NUMBERS).map(([name, index]) => `${name} = ${attributes.cc[index]};`);
  const groups = ['cflag', 'iflag', 'oflag', 'lflag'].map((word) => {
    const flags = Object.entries(FLAGS).filter(([, [name]]) => name === word);
    const texts = flags.map(([name, [, bit]]) => `${(attributes[word] & bit) === 0 ? '-' : ''}${name}`);
    return wrapped(texts, columns || 80);
  });
  const head = `speed 38400 baud; rows ${rows}; columns ${columns}; line = 0;\n`;
  return head + wrapped([...characters, ...numbers], columns || 80) + groups.join('');
}

const saved = ({ iflag, oflag, cflag, lflag, cc }) =>
  [iflag, oflag, cflag, lflag, ...cc].map((number) => (number >>> 0).toString(16)).join(':');

function restore(text) {
  const [iflag, oflag, cflag, lflag, ...cc] = text.split(':').map((part) => Number.parseInt(part, 16));
  return { iflag, oflag, cflag, lflag, line: 0, cc: Uint8Array.from(cc.slice(0, 19)) };
}

// Applies words to the attributes. Returns the rest of the words if the first word is unknown.
function apply(attributes, words, size) {
  while (words.length > 0) {
    const word = words.shift();
    const isOff = word.startsWith('-');
    const flag = FLAGS[isOff ? word.slice(1) : word];
    if (flag !== undefined) set(attributes, flag[0], flag[1], !isOff);
    else if (word === 'sane') setSane(attributes);
    else if (WORDS[word] !== undefined) words.unshift(...WORDS[word].split(' '));
    else if (/^\d+$/.test(word) || word === 'line' || word === 'speed' || word === 'ispeed' || word === 'ospeed') {
      if (!/^\d+$/.test(word)) words.shift();
    } else if (/^cs[5-8]$/.test(word)) attributes.cflag = (attributes.cflag & ~0o60) | ((Number(word[2]) - 5) << 4);
    else {
      const value = words.shift();
      if (value === undefined) return `invalid argument '${word}'`;
      const number = byteOf(value);
      if (word === 'rows') size.rows = Number(value);
      else if (word === 'cols' || word === 'columns') size.columns = Number(value);
      else if (CHARACTERS[word] !== undefined && number !== undefined) attributes.cc[CHARACTERS[word][0]] = number;
      else if (NUMBERS[word] !== undefined && /^\d+$/.test(value)) attributes.cc[NUMBERS[word]] = Number(value);
      else return `invalid argument '${word}'`;
    }
  }
  return undefined;
}

export function stty(args) {
  const words = [...args];
  if (words[0] === '-F' || words[0]?.startsWith('--file')) return fail('the option -F is not supported');
  if (!kernel.isTerminal(TERMINAL)) return fail("'standard input': Inappropriate ioctl for device");
  const attributes = kernel.getAttributes(TERMINAL);
  const [columns, rows] = kernel.getSize(TERMINAL);
  if (words[0] === 'size') return ok(`${rows} ${columns}\n`);
  if (words[0] === '-a' || words[0] === '--all') return ok(all(attributes, [columns, rows]));
  if (words[0] === '-g' || words[0] === '--save') return ok(`${saved(attributes)}\n`);
  if (words.length === 0) return ok('speed 38400 baud; line = 0;\n');
  if (/^[\da-f]+(?::[\da-f]+){22}$/i.test(words[0])) {
    kernel.setAttributes(TERMINAL, restore(words[0]));
    return ok();
  }
  const size = { rows, columns };
  const bad = apply(attributes, words, size);
  if (bad !== undefined) return fail(bad);
  if (![size.rows, size.columns].every((number) => Number.isInteger(number) && number >= 0 && number < 65_536))
    return fail('invalid integer argument');
  kernel.setAttributes(TERMINAL, attributes);
  if (size.rows !== rows || size.columns !== columns) kernel.setSize(TERMINAL, size.columns, size.rows);
  return ok();
}
