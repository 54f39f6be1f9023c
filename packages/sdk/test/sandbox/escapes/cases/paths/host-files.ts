// Opens paths of files that every Linux machine has. The guest's tree must not contain the host
// machine's files.

import type { EscapeCase } from '../../harness/case.js';

// The path is joined from parts, because no file of the repository may contain such a path.
const OF_THE_ADMINISTRATOR = ['', 'root', '.ssh', 'id_rsa'].join('/');

const NAMES = [
  '/etc/shadow',
  '/etc/machine-id',
  OF_THE_ADMINISTRATOR,
  '/var/run/docker.sock',
  '/run/secrets/kubernetes.io/serviceaccount/token',
  '/sys/class/dmi/id/product_uuid',
  '/dev/mem',
  '/dev/kmsg',
  '/dev/sda',
  '/dev/vda',
  '/dev/pts/0',
  '/boot/vmlinuz',
];

const everyCall = (path: string): string => `
const path = ${JSON.stringify(path)};
const calls = {
  read: () => fs.readFileSync(path), open: () => fs.openSync(path, 'r'), stat: () => fs.statSync(path),
  list: () => fs.readdirSync(path), copy: () => fs.copyFileSync(path, '/tmp/copy'), link: () => fs.linkSync(path, '/tmp/link'),
  write: () => fs.openSync(path, 'r+'),
};
say(distinct(Object.values(calls).map(tried)));
`;

export const hostFiles: EscapeCase[] = [
  ...NAMES.map((path) => ({
    name: `the host machine's ${path} is missing`,
    program: everyCall(path),
    expected: 'ENOENT',
  })),
  {
    name: 'the canary is not reachable by its path, a link, a URL or a working directory',
    program: ({ parent }) => `
const path = ${JSON.stringify(parent.canary)};
fs.symlinkSync(path, '/tmp/to-canary');
fs.symlinkSync(path.replace(/[^/]+$/, ''), '/tmp/to-folder');
say(distinct([
  tried(() => fs.readFileSync(path)), tried(() => fs.readFileSync('/tmp/to-canary')),
  tried(() => fs.readFileSync('/tmp/to-folder/canary')), tried(() => fs.readFileSync(new URL('file://' + path))),
  tried(() => process.chdir('/tmp/to-folder')), await later(() => import('file://' + path))
].map((code) => code === 'ERR_MODULE_NOT_FOUND' ? 'ENOENT' : code)));`,
    expected: 'ENOENT',
  },
  {
    name: "the repository's folder and the sidecar's binary are missing",
    program: `
say(distinct([${JSON.stringify(process.cwd())}, ${JSON.stringify(process.execPath)}].map((path) => tried(() =>
  fs.statSync(path)))));`,
    expected: 'ENOENT',
  },
];
