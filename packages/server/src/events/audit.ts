// The audit log: a file with one JSON object a line, for each event and each refused or changing
// request. The file is replaced when it reaches its largest size. One earlier file is kept.

import { appendFileSync, closeSync, fstatSync, openSync, renameSync } from 'node:fs';

const LARGEST_BYTES = 64 << 20;

/** The audit log. */
export interface Audit {
  /** Appends an object, with the present time. A failure of the disk does not reach the caller. */
  write(entry: Record<string, unknown>): void;
  close(): void;
}

/** Opens the audit log in the file `path`, which is made if missing. */
export function openAudit(path: string, onError: (error: Error) => void): Audit {
  let file = openSync(path, 'a', 0o600);
  let size = fstatSync(file).size;
  return {
    write(entry) {
      const line = `${JSON.stringify({ time: new Date().toISOString(), ...entry })}\n`;
      try {
        if (size + line.length > LARGEST_BYTES) {
          closeSync(file);
          renameSync(path, `${path}.1`);
          file = openSync(path, 'a', 0o600);
          size = 0;
        }
        appendFileSync(file, line);
        size += Buffer.byteLength(line);
      } catch (error) {
        onError(error as Error);
      }
    },
    close: () => closeSync(file),
  };
}

/** An audit log that keeps nothing. */
export const NO_AUDIT: Audit = { write: () => {}, close: () => {} };
