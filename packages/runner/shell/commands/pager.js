// less and more: show files or standard input page by page on a terminal. Without a terminal they
// print their input, as `cat`. Next: ../programs.js.

import kernel from 'coldframe:kernel';
import fs from 'node:fs';
import { close, readAll, write } from '../descriptors.js';
import { reasonOf } from '../reasons.js';
import { readByte } from '../script-input.js';

const SCREEN = 1;
const HELP = 'space: next page  b: previous page  j, k: lines  g, G: start, end  /text: search  n: next  q: quit';

// Splits a text into rows of the screen. Control sequences have no width.
function rowsOf(text, columns) {
  const rows = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    let [row, width] = ['', 0];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences begin with ESC
    for (const [part] of line.replaceAll('\t', '        ').matchAll(/\x1b\[[\d;]*[A-Za-z]|./gsu)) {
      if (!part.startsWith('\x1b') && width++ === columns) {
        rows.push(row);
        [row, width] = ['', 1];
      }
      row += part;
    }
    rows.push(row);
  }
  return rows;
}

class Pager {
  #rows;
  #keys;
  #top = 0;
  #pattern = '';
  #message = '';

  constructor(text, keys) {
    this.#keys = keys;
    [this.columns, this.height] = kernel.getSize(SCREEN);
    this.columns ||= 80;
    this.height = (this.height || 24) - 1;
    this.#rows = rowsOf(text, this.columns);
  }

  get #last() {
    return Math.max(0, this.#rows.length - this.height);
  }

  get fits() {
    return this.#rows.length <= this.height;
  }

  #draw() {
    const shown = this.#rows.slice(this.#top, this.#top + this.height);
    while (shown.length < this.height) shown.push('~');
    const status = this.#message || (this.#top >= this.#last ? '(END)' : ':');
    this.#message = '';
    const lines = shown.map((row) => `${row}\x1b[m\x1b[K\r\n`).join('');
    write(SCREEN, Buffer.from(`\x1b[H${lines}\x1b[7m${status}\x1b[m\x1b[K`));
  }

  #search(from) {
    const found = this.#rows.findIndex((row, index) => index >= from && row.includes(this.#pattern));
    if (found >= 0) this.#top = Math.min(found, this.#last);
    else this.#message = 'Pattern not found';
  }

  async #readPattern() {
    const bytes = [];
    for (;;) {
      write(SCREEN, Buffer.from(`\r\x1b[K/${Buffer.from(bytes).toString('utf8')}`));
      const byte = await readByte(this.#keys);
      if (byte < 0 || byte === 13 || byte === 10) return Buffer.from(bytes).toString('utf8') || this.#pattern;
      if (byte === 3 || byte === 27) return '';
      if (byte === 8 || byte === 127) bytes.pop();
      else bytes.push(byte);
    }
  }

  // Reads a key. A sequence of an arrow or page key becomes the letter of the same action.
  async #key() {
    const byte = await readByte(this.#keys);
    if (byte < 0) return 'q';
    if (byte !== 27) return String.fromCharCode(byte);
    let sequence = '';
    while (!/[A-Z~]$/.test(sequence.slice(1))) {
      const next = await readByte(this.#keys, 50);
      if (next === undefined || next < 0) return '';
      sequence += String.fromCharCode(next);
    }
    return { '[A': 'k', '[B': 'j', OA: 'k', OB: 'j', '[5~': 'b', '[6~': ' ', '[H': 'g', '[F': 'G' }[sequence] ?? '';
  }

  async run() {
    for (;;) {
      this.#draw();
      const key = await this.#key();
      if (key === 'q' || key === 'Q' || key === '\x03') return;
      if (key === ' ' || key === 'f' || key === '\x06') this.#top += this.height;
      else if (key === 'b' || key === '\x02') this.#top -= this.height;
      else if (key === 'd') this.#top += this.height >> 1;
      else if (key === 'u') this.#top -= this.height >> 1;
      else if (key === 'j' || key === '\r' || key === '\n') this.#top++;
      else if (key === 'k') this.#top--;
      else if (key === 'g' || key === '<') this.#top = 0;
      else if (key === 'G' || key === '>') this.#top = this.#last;
      else if (key === 'h') this.#message = HELP;
      else if (key === '/' || key === 'n') {
        if (key === '/') this.#pattern = await this.#readPattern();
        if (this.#pattern !== '') this.#search(this.#top + (key === 'n' ? 1 : 0));
      }
      this.#top = Math.max(0, Math.min(this.#top, this.#last));
    }
  }
}

function contents(name, files) {
  let failed = false;
  const pieces = files.map((file) => {
    try {
      return file === '-' ? readAll(0) : fs.readFileSync(file);
    } catch (error) {
      write(2, Buffer.from(`${file}: ${reasonOf(error)}\n`));
      failed = true;
      return Buffer.alloc(0);
    }
  });
  return { bytes: Buffer.concat(pieces), failed, name };
}

/** Returns the program `less` or `more`. `print` prints the files, as `cat`. */
export function pager(name, print) {
  return async (args) => {
    const files = args.filter((arg) => !/^[-+]./.test(arg));
    const keys = kernel.isTerminal(SCREEN) ? openKeys() : undefined;
    if (keys === undefined) return print(files);
    if (files.length === 0 && kernel.isTerminal(0)) {
      write(2, Buffer.from(`Missing filename ("${name} --help" for help)\n`));
      return 1;
    }
    const { bytes, failed } = contents(name, files.length === 0 ? ['-'] : files);
    const view = new Pager(bytes.toString('utf8'), keys);
    if (view.fits && (name === 'more' || args.some((arg) => /^-[a-zA-Z]*F/.test(arg)))) write(SCREEN, bytes);
    else if (bytes.length > 0) await onScreen(view, keys);
    if (keys !== 0) close(keys);
    return Number(failed);
  };
}

function openKeys() {
  if (kernel.isTerminal(0)) return 0;
  try {
    return fs.openSync('/dev/tty', 'r+');
  } catch {
    return undefined;
  }
}

// Shows the pages on the other screen of the terminal, so that the lines before stay.
async function onScreen(view, keys) {
  const attributes = kernel.getAttributes(keys);
  const raw = kernel.makeRaw(attributes);
  kernel.setAttributes(keys, { ...raw, oflag: attributes.oflag });
  write(SCREEN, Buffer.from('\x1b[?1049h'));
  try {
    await view.run();
  } finally {
    write(SCREEN, Buffer.from('\x1b[?1049l'));
    kernel.setAttributes(keys, attributes);
  }
}
