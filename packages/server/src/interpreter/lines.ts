// Cuts output into lines. A line is complete with its line break. The rest is passed on if no line
// break follows soon, so that a progress display appears.

import { StringDecoder } from 'node:string_decoder';

/** The time after which an incomplete line is passed on. */
const PARTIAL_MS = 100;
/** The length of an incomplete line that is passed on at once. */
const PARTIAL_LENGTH = 65_536;

/** The lines of one output stream. */
export class Lines {
  readonly #emit: (text: string) => void;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';
  #timer: NodeJS.Timeout | undefined;

  constructor(emit: (text: string) => void) {
    this.#emit = emit;
  }

  /** Adds output. */
  add(chunk: Uint8Array): void {
    const parts = (this.#rest + this.#decoder.write(Buffer.from(chunk))).split(/(?<=\n)/);
    const last = parts.at(-1) ?? '';
    this.#rest = last.endsWith('\n') || last.length >= PARTIAL_LENGTH ? '' : (parts.pop() ?? '');
    for (const part of parts) if (part !== '') this.#emit(part);
    clearTimeout(this.#timer);
    this.#timer = this.#rest === '' ? undefined : setTimeout(() => this.#flush(), PARTIAL_MS);
  }

  /** Passes on the rest of the output. */
  end(): void {
    clearTimeout(this.#timer);
    this.#rest += this.#decoder.end();
    this.#flush();
  }

  #flush(): void {
    const text = this.#rest;
    this.#rest = '';
    if (text !== '') this.#emit(text);
  }
}
