// Makes tar archives byte by byte, also wrong ones that no tar program would make.

const BLOCK = 512;

export interface Entry {
  name?: string;
  /** The type flag: `0` file, `1` hard link, `2` link, `5` directory, `x` pax, `L` long name. */
  type?: string;
  link?: string;
  body?: string | Uint8Array;
  /** The size in the header, if it differs from the size of the body. */
  size?: string;
  mode?: number;
  prefix?: string;
  checksum?: string;
}

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`;

/** Returns the header and the body of an entry. */
export function entry({
  name = 'file',
  type = '0',
  link = '',
  body = '',
  size,
  mode = 0o644,
  prefix = '',
  checksum,
}: Entry): Buffer {
  const bytes = Buffer.from(body);
  const head = Buffer.alloc(BLOCK);
  head.write(name, 0, 100, 'latin1');
  head.write(octal(mode, 8), 100);
  head.write(octal(0, 8), 108);
  head.write(octal(0, 8), 116);
  head.write(size ?? octal(bytes.length, 12), 124, 12, 'latin1');
  head.write(octal(0, 12), 136);
  head.write(' '.repeat(8), 148);
  head.write(type, 156);
  head.write(link, 157, 100, 'latin1');
  head.write('ustar\x0000', 257);
  head.write(prefix, 345, 155, 'latin1');
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(checksum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([head, bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)]);
}

/** Returns an archive with its end mark. */
export const archive = (...entries: readonly Entry[]): Buffer => Buffer.concat([...entries.map(entry), Buffer.alloc(2 * BLOCK)]);

/** Returns one record of a pax header, with the right length unless `length` is set. */
export function pax(key: string, value: string, length?: number): string {
  const rest = ` ${key}=${value}\n`;
  let total = rest.length + 1;
  while (String(total).length + rest.length !== total) total = String(total).length + rest.length;
  return `${length ?? total}${rest}`;
}
