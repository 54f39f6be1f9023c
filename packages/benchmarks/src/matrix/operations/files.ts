// Operations on files. The app calls for files of a runtime. A guest calls for files of its
// runtime, of a mounted folder, and of an app file system.

import { join } from 'node:path/posix';
import { type Lane, PLACES, type Place } from '../lane.js';
import { appOperation, equals, type GuestCall, guestOperation, type Operation, timeCall } from '../operation.js';

const BYTES = 4096;
const NAMES = 10;

/** Declares a call of the app. The file `path` has 4 KiB, and its folder has ten names. */
const fileCall = (name: string, call: (lane: Lane, path: string) => Promise<unknown>, expected: unknown): Operation =>
  appOperation(name, "the app's files", async (lane) => {
    const folder = lane.folder('memory');
    await lane.perform(`
const { mkdirSync, writeFileSync } = await import('node:fs');
mkdirSync('${folder}/files', { recursive: true });
for (let i = 0; i < ${NAMES}; i++) writeFileSync('${folder}/files/' + i, Buffer.alloc(${BYTES}, 'x'));
return 'made';`);
    const path = join(folder, 'files', '0');
    return { once: () => timeCall(() => call(lane, path), equals(expected)) };
  });

const CONTENT = Buffer.alloc(BYTES, 'y');

export const appFileOperations: readonly Operation[] = [
  fileCall('writeFile 4 KiB', (lane, path) => lane.writeFile(path, CONTENT), undefined),
  fileCall('readFile 4 KiB', async (lane, path) => (await lane.readFile(path)).length, BYTES),
  fileCall('stat', (lane, path) => lane.size(path), BYTES),
  fileCall('readDir of 10', async (lane, path) => (await lane.names(join(path, '..'))).length, NAMES),
];

/**
 * The setup of a guest's calls: a folder with ten files of 4 KiB, and the text `path` of a file.
 */
const setupIn = (folder: string): string => `
const fs = await import('node:fs');
const folder = fs.mkdtempSync('${folder}/calls-');
const content = Buffer.alloc(${BYTES}, 'x');
for (let i = 0; i < ${NAMES}; i++) fs.writeFileSync(folder + '/' + i, content);
const path = folder + '/0';
let turn = 0;
`;

const TEARDOWN = `fs.rmSync(folder, { recursive: true });`;

type FileCall = Pick<GuestCall, 'operation' | 'check' | 'expected'>;

/** The calls of a guest. A call that changes a name or a size restores the name or the size. */
const calls: Readonly<Record<string, FileCall>> = {
  'write 4 KiB': { operation: 'fs.writeFileSync(path, content)', check: 'fs.statSync(path).size', expected: `${BYTES}` },
  'read 4 KiB': { operation: 'fs.readFileSync(path)', check: 'result.length', expected: `${BYTES}` },
  'append, truncate': {
    operation: "(fs.appendFileSync(path, 'x'), fs.truncateSync(path, 4096))",
    check: 'fs.statSync(path).size',
    expected: `${BYTES}`,
  },
  'open, close': { operation: 'fs.closeSync(fs.openSync(path))', check: 'result', expected: 'undefined' },
  stat: { operation: 'fs.statSync(path)', check: 'result.size', expected: `${BYTES}` },
  access: { operation: 'fs.existsSync(path)', check: 'result', expected: 'true' },
  'readdir of 10': { operation: 'fs.readdirSync(folder)', check: 'result.length', expected: `${NAMES}` },
  'mkdir, rmdir': {
    operation: "(fs.mkdirSync(folder + '/new'), fs.rmdirSync(folder + '/new'))",
    check: "fs.existsSync(folder + '/new')",
    expected: 'false',
  },
  'rename twice': {
    operation: "(fs.renameSync(path, folder + '/new'), fs.renameSync(folder + '/new', path))",
    check: 'fs.existsSync(path)',
    expected: 'true',
  },
  'create, unlink': {
    operation: "(fs.writeFileSync(folder + '/new', ''), fs.unlinkSync(folder + '/new'))",
    check: "fs.existsSync(folder + '/new')",
    expected: 'false',
  },
};

const PLACE_NAMES: Readonly<Record<Place, string>> = { memory: 'memory', mount: 'mount', app: 'app fs' };

export const guestFileOperations: readonly Operation[] = Object.entries(calls).flatMap(([name, call]) =>
  PLACES.map((place) =>
    guestOperation(
      `${name} (${PLACE_NAMES[place]})`,
      "the guest's files",
      (lane) => ({ ...call, setup: setupIn(lane.folder(place)), teardown: TEARDOWN }),
      [place],
    ),
  ),
);
