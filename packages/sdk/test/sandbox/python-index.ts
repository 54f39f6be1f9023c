// A package index for tests of pip: the simple API in HTML and in JSON, with wheels that the test
// makes.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateRawSync } from 'node:zlib';

/** A distribution in an index. */
export interface Distribution {
  readonly project: string;
  readonly file: string;
  readonly bytes: Buffer;
  readonly metadata?: string;
}

/** The content of a wheel. */
export interface WheelOptions {
  version?: string;
  requires?: readonly string[];
  /** Names of commands, and `module:function`. */
  scripts?: Readonly<Record<string, string>>;
  /** Paths in the wheel, and contents. */
  files?: Readonly<Record<string, string | Buffer>>;
  tag?: string;
  record?: string;
}

/** Returns a wheel with the module `NAME`, whose `version` is the version of the wheel. */
export function wheel(name: string, options: WheelOptions = {}): Distribution {
  const { version = '1.0', requires = [], scripts = {}, tag = 'py3-none-any' } = options;
  const folder = `${name}-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    ...requires.map((one) => `Requires-Dist: ${one}`),
    '',
  ].join('\n');
  const commands = Object.entries(scripts).map(([command, target]) => `${command} = ${target}\n`);
  const files: Record<string, string | Buffer> = {
    [`${name}.py`]: `version = '${version}'\n\ndef main():\n    print('${name}', version)\n`,
    ...options.files,
    [`${folder}/METADATA`]: metadata,
    [`${folder}/WHEEL`]: `Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
    ...(commands.length > 0 ? { [`${folder}/entry_points.txt`]: `[console_scripts]\n${commands.join('')}` } : {}),
  };
  const record = options.record ?? `${[...Object.keys(files), `${folder}/RECORD`].map((path) => `${path},,`).join('\n')}\n`;
  const bytes = zip({ ...files, [`${folder}/RECORD`]: record });
  return { project: name, file: `${name}-${version}-${tag}.whl`, bytes, metadata };
}

/** Returns a zip file. */
function zip(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const bodies: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 0;
  for (const [path, content] of Object.entries(files)) {
    const [name, data] = [Buffer.from(path), Buffer.from(content)];
    const packed = deflateRawSync(data);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x03', 'latin1'), common, tail, name]));
    const body = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed]);
    bodies.push(body);
    at += body.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...bodies, directory, end]);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

// `crc32` of `node:zlib` is missing in the oldest supported Node.
function crc32(data: Buffer): number {
  let value = 0xffffffff;
  for (const byte of data) value = (value >>> 8) ^ (CRC_TABLE[(value ^ byte) & 0xff] as number);
  return (value ^ 0xffffffff) >>> 0;
}

export const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** An index on this machine's loopback. */
export interface TestIndex extends AsyncDisposable {
  readonly url: string;
  /** The entry of `network.private` that allows the index. */
  readonly entry: string;
  /** The paths of the requests so far. */
  readonly requests: string[];
}

/** How an index responds. */
export interface IndexOptions {
  /** The format of the pages. HTML pages have no separate metadata. */
  format?: 'html' | 'json';
  /** Replaces the hash of a file on the page of its project. */
  hashOf?: (file: Distribution) => string;
}

/** Serves distributions. */
export async function startIndex(files: readonly Distribution[], options: IndexOptions = {}): Promise<TestIndex> {
  const { format = 'json', hashOf = ({ bytes }) => sha256(bytes) } = options;
  const requests: string[] = [];
  const page = (project: string): string | undefined => {
    const own = files.filter((one) => one.project === project);
    if (own.length === 0) return undefined;
    if (format === 'html')
      return own.map((one) => `<a href="/files/${one.file}#sha256=${hashOf(one)}">${one.file}</a>`).join('<br>\n');
    return JSON.stringify({
      meta: { 'api-version': '1.1' },
      name: project,
      files: own.map((one) => ({
        filename: one.file,
        url: `/files/${one.file}`,
        hashes: { sha256: hashOf(one) },
        'core-metadata': one.metadata !== undefined && { sha256: sha256(one.metadata) },
      })),
    });
  };
  const bodyOf = (path: string): string | Buffer | undefined => {
    const project = /^\/simple\/([^/]+)\/$/.exec(path)?.[1];
    if (project !== undefined) return page(project);
    const name = path.replace(/^\/files\//, '');
    const file = files.find((one) => name === one.file || name === `${one.file}.metadata`);
    return name.endsWith('.metadata') ? file?.metadata : file?.bytes;
  };
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requests.push(path);
    const body = bodyOf(path);
    const isPage = path.startsWith('/simple/');
    const type = format === 'json' ? 'application/vnd.pypi.simple.v1+json' : 'text/html';
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': isPage ? type : 'application/octet-stream' });
    response.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/simple`,
    entry: `127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
