// The newest lines of output of a sandbox's programs, and the starts and ends of programs.

/** The importance of a line. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A line of a log. */
export interface LogEntry {
  /** Milliseconds since 1970. */
  at: number;
  level: LogLevel;
  message: string;
  fields: Record<string, string>;
}

/** The lines that a request selects. */
export interface LogQuery {
  /** Lines at this time or later, or earlier with the direction `backward`. */
  cursor?: number | undefined;
  limit: number;
  direction: 'forward' | 'backward';
  level?: LogLevel | undefined;
  search?: string | undefined;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const MOST_ENTRIES = 1_000;
/** The longest line. Output without line ends is cut there. */
const LONGEST_LINE = 2_048;
/** The characters of all lines together. */
const MOST_CHARACTERS = 256 << 10;

/** The newest lines of one sandbox. */
export class Logs {
  readonly #entries: LogEntry[] = [];
  #characters = 0;

  /** Adds a line. Drops the oldest lines beyond the bounds. */
  add(level: LogLevel, message: string, fields: Record<string, string>): void {
    const entry = { at: Date.now(), level, message: message.slice(0, LONGEST_LINE), fields };
    this.#entries.push(entry);
    this.#characters += entry.message.length;
    while (this.#entries.length > MOST_ENTRIES || this.#characters > MOST_CHARACTERS) {
      this.#characters -= (this.#entries.shift() as LogEntry).message.length;
    }
  }

  /** Returns a function that adds the lines of a stream of bytes. */
  lines(level: LogLevel, fields: () => Record<string, string>): { push(bytes: Uint8Array): void; end(): void } {
    const decoder = new TextDecoder();
    let rest = '';
    const add = (line: string): void => {
      if (line !== '') this.add(level, line, fields());
    };
    return {
      push: (bytes) => {
        const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
        rest = lines.pop() as string;
        for (const line of lines) add(line);
        while (rest.length > LONGEST_LINE) {
          add(rest.slice(0, LONGEST_LINE));
          rest = rest.slice(LONGEST_LINE);
        }
      },
      end: () => {
        add(rest);
        rest = '';
      },
    };
  }

  /** Returns the selected lines. */
  select({ cursor, limit, direction, level = 'debug', search = '' }: LogQuery): LogEntry[] {
    const least = LEVELS.indexOf(level);
    const matches = this.#entries.filter(
      (entry) => LEVELS.indexOf(entry.level) >= least && entry.message.includes(search) && isBehind(entry.at, cursor, direction),
    );
    return direction === 'forward' ? matches.slice(0, limit) : matches.reverse().slice(0, limit);
  }
}

function isBehind(at: number, cursor: number | undefined, direction: LogQuery['direction']): boolean {
  if (cursor === undefined) return true;
  return direction === 'forward' ? at >= cursor : at <= cursor;
}
