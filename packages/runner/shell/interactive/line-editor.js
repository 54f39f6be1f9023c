// Edits lines on a terminal, by Node's readline. The terminal is raw only while a line is edited.
// The keys are read one by one, because the keys after a line belong to the command of that line.
// Search in the history (^R) is added here, because readline lacks it. Next: session.js.

import kernel from 'coldframe:kernel';
import { EventEmitter } from 'node:events';
import readline from 'node:readline';
import { write } from '../descriptors.js';
import { readByte } from '../script-input.js';

const TERMINAL = 0;
const SCREEN = 2;
const LONGEST = 1_000;
const CONTROL_D = 4;
const CONTROL_R = 18;
const CONTROL_S = 19;
const CONTROL_G = 7;
const CONTROL_C = 3;
const BACKSPACES = new Set([8, 127]);
const FIRST_PRINTABLE = 32;

// Node's readline listens for keys on this stream.
class Keys extends EventEmitter {
  pause() {
    return this;
  }
  resume() {
    return this;
  }
  type(bytes) {
    this.emit('data', Buffer.from(bytes));
  }
}

class Screen extends EventEmitter {
  isTTY = true;
  columns = 80;
  rows = 24;
  write(text) {
    write(SCREEN, Buffer.from(text));
    return true;
  }
  measure() {
    const size = kernel.getSize(TERMINAL);
    if (!Array.isArray(size)) return;
    const [columns, rows] = size;
    Object.assign(this, { columns: columns || 80, rows: rows || 24 });
  }
}

/** Searches backwards for `text` from the entry `from` of `lines`, which begins with the newest. */
const searchFrom = (lines, text, from) => lines.findIndex((line, index) => index >= from && line.includes(text));

export class LineEditor {
  #keys = new Keys();
  #screen = new Screen();
  #readline;
  #outcome;
  #search;
  #saved;

  /** `complete(line)` returns completions. `lines()` returns the history, oldest first. */
  constructor({ complete, lines }) {
    this.lines = lines;
    this.#screen.measure();
    this.#readline = readline.createInterface({
      input: this.#keys,
      output: this.#screen,
      terminal: true,
      historySize: LONGEST,
      completer: complete,
    });
    this.#readline.on('line', (line) => {
      this.#outcome = { line };
    });
    this.#readline.on('SIGINT', () => this.#drop());
    this.#readline.on('SIGTSTP', () => {});
    this.#readline.on('SIGCONT', () => {});
    process.on('SIGWINCH', () => this.resize());
  }

  get columns() {
    return this.#screen.columns;
  }
  get rows() {
    return this.#screen.rows;
  }

  resize() {
    this.#screen.measure();
    if (this.#saved !== undefined) this.#screen.emit('resize');
  }

  #drop() {
    this.#screen.write('^C');
    this.#readline.clearLine();
    this.#outcome = { isDropped: true };
  }

  /**
   * Edits a line. Resolves with `{ line }`, with `{ isEnd: true }` after ^D, or with
   * `{ isDropped: true }` after ^C.
   */
  async edit(prompt) {
    const interface_ = this.#readline;
    this.#outcome = undefined;
    interface_.history = this.lines().slice(-LONGEST).reverse();
    interface_.historyIndex = -1;
    this.#saved = kernel.getAttributes(TERMINAL);
    kernel.setAttributes(TERMINAL, kernel.makeRaw(this.#saved));
    try {
      interface_.setPrompt(prompt.replaceAll('\n', '\r\n'));
      interface_.prompt();
      while (this.#outcome === undefined) {
        const byte = await readByte(TERMINAL);
        if (byte < 0) return { isEnd: true };
        this.#type(byte);
      }
      if (this.#outcome.isEnd) this.#screen.write('\r\n');
      return this.#outcome;
    } finally {
      kernel.setAttributes(TERMINAL, this.#saved);
      this.#saved = undefined;
      this.#search = undefined;
    }
  }

  #type(byte) {
    if (this.#search !== undefined) this.#typeInSearch(byte);
    else if (byte === CONTROL_R) this.#beginSearch();
    else if (byte === CONTROL_D && this.#readline.line === '') this.#outcome = { isEnd: true };
    else this.#keys.type([byte]);
  }

  #beginSearch() {
    this.#search = { bytes: [], at: 0, line: this.#readline.line };
    this.#showSearch();
  }

  #showSearch() {
    const { found, text } = this.#find();
    const failed = text !== '' && found === undefined ? 'failed ' : '';
    this.#screen.write(`\r\x1b[J(${failed}reverse-i-search)\`${text}': ${found ?? ''}`);
  }

  #find() {
    const text = Buffer.from(this.#search.bytes).toString('utf8');
    const lines = this.#readline.history;
    const at = text === '' ? -1 : searchFrom(lines, text, this.#search.at);
    return { text, at, found: lines[at] };
  }

  #typeInSearch(byte) {
    const search = this.#search;
    const { found, at } = this.#find();
    if (byte === CONTROL_R) {
      if (at >= 0 && searchFrom(this.#readline.history, Buffer.from(search.bytes).toString('utf8'), at + 1) >= 0)
        search.at = at + 1;
      this.#showSearch();
    } else if (BACKSPACES.has(byte)) {
      while (search.bytes.length > 0 && (search.bytes.pop() & 0xc0) === 0x80);
      search.at = 0;
      this.#showSearch();
    } else if (byte >= FIRST_PRINTABLE && byte !== 127) {
      search.bytes.push(byte);
      this.#showSearch();
    } else if (byte === CONTROL_G || byte === CONTROL_C || byte === CONTROL_S) {
      this.#endSearch(search.line);
    } else {
      // Any other key takes the line that was found, and has its usual effect.
      this.#endSearch(found ?? search.line);
      this.#keys.type([byte]);
    }
  }

  #endSearch(line) {
    this.#search = undefined;
    this.#screen.write('\r\x1b[J');
    this.#readline.write(null, { ctrl: true, name: 'e' });
    this.#readline.write(null, { ctrl: true, name: 'u' });
    this.#readline.write(line);
    this.#readline.prompt(true);
  }
}
