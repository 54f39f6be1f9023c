// Reads the golden frames. The tests of the crate `protocol` read and write these files too.

import { readFileSync } from 'node:fs';

const FOLDER = new URL('../../../sidecar/fixtures/frames/', import.meta.url);

export interface Golden {
  file: string;
  from: 'sdk' | 'sidecar';
  kind: number;
  id: number;
  name: string;
  body: unknown;
  bytes: Buffer;
}

export const golden: Golden[] = (JSON.parse(readFileSync(new URL('index.json', FOLDER), 'utf8')) as Omit<Golden, 'bytes'>[]).map(
  (entry) => ({ ...entry, body: withBytes(entry.body), bytes: readFileSync(new URL(entry.file, FOLDER)) }),
);

// Replaces each `{ "$base64": "..." }` with its bytes, because JSON has no binary values.
function withBytes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withBytes);
  if ('$base64' in value) return Buffer.from(String(value.$base64), 'base64');
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withBytes(inner)]));
}
