// Unpacks a .tar.xz archive in memory, without a program of the system. The decompressor is an npm
// package; the format of tar is read here, because the build needs only names and bytes.
import xz from 'xz-decompress';

const BLOCK = 512;
const [REGULAR, LONG_NAME, EXTENDED] = ['0', 'L', 'x'];

/**
 * Returns the regular files of an archive: path, without the archive's first folder, to bytes.
 * @param {Buffer} bytes
 * @param {(path: string) => boolean} isWanted
 * @returns {Promise<Map<string, Buffer>>}
 */
export async function unpack(bytes, isWanted) {
  const stream = new xz.XzReadableStream(new Blob([bytes]).stream());
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return readTar(Buffer.concat(chunks), isWanted);
}

function readTar(tar, isWanted) {
  const files = new Map();
  let longName;
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const text = (from, length) => tar.toString('utf8', at + from, at + from + length).replace(/\0[\s\S]*$/, '');
    const size = Number.parseInt(text(124, 12), 8);
    const kind = text(156, 1) || REGULAR;
    const content = tar.subarray(at + BLOCK, at + BLOCK + size);
    if (kind === LONG_NAME) longName = content.toString('utf8').replace(/\0+$/, '');
    else if (kind === EXTENDED) longName = /^\d+ path=(.*)$/m.exec(content.toString('utf8'))?.[1] ?? longName;
    else {
      const prefix = text(345, 155);
      const path = (longName ?? (prefix ? `${prefix}/${text(0, 100)}` : text(0, 100))).replace(/^[^/]*\//, '');
      longName = undefined;
      if (kind === REGULAR && isWanted(path)) files.set(path, content);
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}
