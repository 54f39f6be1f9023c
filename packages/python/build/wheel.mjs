// Reads pip's wheel, which is part of CPython's source. CPython pins the wheel, and the digest of
// the archive of CPython covers the wheel. A wheel is a zip file; only the two methods of wheels
// are read here.
import { inflateRawSync } from 'node:zlib';

/** The wheel's place in the source. */
export const WHEEL_PATH = /^Lib\/ensurepip\/_bundled\/pip-[^/]+\.whl$/;
/** The place of the wheel's files in the source, for patches, and in the library. */
export const BUNDLED = 'bundled-packages';

/** Programs for Windows, which pip copies into environments of Windows only. */
const isUnused = (path) => path.endsWith('.exe') || path.endsWith('/');

const [END, ENTRY] = [0x06054b50, 0x02014b50];
const [STORED, DEFLATED] = [0, 8];

/** Adds the files of pip's wheel to the source. The wheel itself is removed. */
export function unpackWheel(files) {
  const path = [...files.keys()].find((name) => WHEEL_PATH.test(name));
  if (path === undefined) throw new Error('the source of CPython has no wheel of pip');
  for (const [name, bytes] of readZip(files.get(path))) {
    if (!isUnused(name)) files.set(`Lib/${BUNDLED}/${name}`, bytes);
  }
  files.delete(path);
}

/** Yields the names and contents of a zip file. */
function* readZip(zip) {
  let at = zip.length - 22;
  while (at >= 0 && zip.readUInt32LE(at) !== END) at--;
  if (at < 0) throw new Error('the wheel of pip is no zip file');
  const count = zip.readUInt16LE(at + 10);
  at = zip.readUInt32LE(at + 16);
  for (let entry = 0; entry < count; entry++) {
    if (zip.readUInt32LE(at) !== ENTRY) throw new Error('the directory of the wheel is damaged');
    const method = zip.readUInt16LE(at + 10);
    const packed = zip.readUInt32LE(at + 20);
    const nameLength = zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(begin, begin + packed);
    if (method !== STORED && method !== DEFLATED) throw new Error(`${name} has the unknown method ${method}`);
    yield [name, method === STORED ? data : inflateRawSync(data)];
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
}
