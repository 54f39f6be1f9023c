// Writes the progress of a run to stderr, at least one line for each row. stdout is only for the
// JSON.

import { seconds } from './text.js';

/** The row whose progress a line shows. */
export interface RowProgress {
  name: string;
  /** The row's position in its section, from 0. */
  index: number;
  /** The number of rows in the section. */
  count: number;
  /** The length of the longest row name in the section. */
  nameWidth: number;
  /**
   * Milliseconds after which the section probably ends. Missing for rows that are not part of the
   * budget.
   */
  etaMs?: number;
}

export interface Progress {
  write(line: string): void;
  row(row: RowProgress, text: string): void;
}

const writeToStderr = (line: string): void => void process.stderr.write(`${line}\n`);

export const progressOnStderr: Progress = {
  write: writeToStderr,
  row: ({ name, index, count, nameWidth, etaMs }, text) => {
    const place = `[${String(index + 1).padStart(String(count).length)}/${count}]`;
    const eta = etaMs === undefined ? '' : ` ETA ${seconds(etaMs).padStart(10)}`;
    writeToStderr(`${place}${eta}  ${name.padEnd(nameWidth)}  ${text}`);
  },
};
