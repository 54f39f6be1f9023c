// The subcommands of `@coldframe/server`: a server of sandboxes, and the calls of a server. The
// package is optional, so this table and the parser are here, and the code is in the package. Next:
// `server.ts`.

import { HELP, JSON_OUTPUT } from './flags.js';
import type { Subcommand } from './subcommand.js';

const SERVE: Subcommand = {
  name: 'serve',
  operands: '',
  summary: 'serve sandboxes over HTTP to the clients of E2B, with a web page and MCP',
  flags: [
    { name: 'port', short: 'p', value: 'PORT', help: 'the port, by default 3000; 0 is a free port' },
    { name: 'host', value: 'ADDRESS', help: 'the address to listen at, by default 127.0.0.1' },
    {
      name: 'api-key',
      value: 'KEY',
      repeats: true,
      help: 'a key of the API, also in COLDFRAME_API_KEY; by default a stored key',
    },
    { name: 'config', value: 'FILE', help: 'a JSON file of further options: keys of tenants, quotas, sizes, webhooks' },
    { name: 'data', value: 'FOLDER', help: 'the folder of the registry and of snapshots' },
    { name: 'domain', value: 'DOMAIN', help: 'the domain of ports of sandboxes: PORT-ID.DOMAIN' },
    { name: 'cert', value: 'FILE', help: 'the certificate for *.DOMAIN, in PEM' },
    { name: 'key', value: 'FILE', help: 'the private key of the certificate, in PEM' },
    JSON_OUTPUT,
    HELP,
  ],
  examples: [
    'coldframe serve',
    'coldframe serve --host 0.0.0.0 --api-key "$KEY" --domain sandboxes.test --cert c.pem --key k.pem',
  ],
};

const SANDBOX_ACTIONS = [
  ['create', 'create a sandbox, and print its id'],
  ['ls', 'list the sandboxes'],
  ['exec ID COMMAND [ARGUMENT...]', 'run a command with the streams of this process'],
  ['sh ID [COMMAND...]', 'open a terminal'],
  ['logs ID', 'print the log'],
  ['cp SOURCE TARGET', 'copy a file; a path of a sandbox is ID:PATH, and - is a stream of this process'],
  ['kill ID...', 'end sandboxes'],
  ['pause ID', 'store a sandbox on disk with its programs'],
  ['resume ID', 'continue a paused sandbox'],
  ['snapshot ID', 'take a snapshot, and print its id'],
  ['snapshots [ID]', 'list the snapshots'],
  ['fork ID', 'make copies of a sandbox with its programs'],
  ['rollback ID SNAPSHOT', 'return a sandbox to a snapshot'],
] as const;

const SANDBOX: Subcommand = {
  name: 'sandbox',
  operands: 'ACTION [OPERAND...]',
  summary: 'use sandboxes of a server',
  flags: [
    { name: 'template', value: 'NAME', help: 'create: a template or a snapshot, by default base' },
    { name: 'timeout', short: 't', value: 'SECONDS', help: 'create, resume: the time until the sandbox ends, by default 300' },
    { name: 'auto-pause', help: 'create: pause the sandbox at its end instead of ending it' },
    { name: 'metadata', value: 'NAME=VALUE', repeats: true, help: 'create: a pair of the metadata' },
    { name: 'env', short: 'e', value: 'NAME=VALUE', repeats: true, help: 'create, exec, sh: set a variable' },
    { name: 'cwd', value: 'PATH', help: 'exec, sh: the working directory' },
    { name: 'user', short: 'u', value: 'NAME', help: 'exec, sh: the user, by default user' },
    { name: 'recursive', short: 'r', help: 'cp: copy directories' },
    { name: 'name', value: 'NAME', help: 'snapshot: the name of the snapshot' },
    { name: 'count', value: 'N', help: 'fork: the number of copies, by default 1' },
    { name: 'follow', short: 'f', help: 'logs: print new lines until the sandbox ends' },
    { name: 'url', value: 'URL', help: 'the server, by default the server of `coldframe login`' },
    JSON_OUTPUT,
    HELP,
  ],
  actions: SANDBOX_ACTIONS,
  words: SANDBOX_ACTIONS.map(([usage]) => usage.split(' ', 1)[0] as string),
  // The options of a command in the sandbox are the command's own.
  passesOptionsAfter: { exec: 3, sh: 3 },
  examples: [
    'coldframe sandbox create --timeout 3600',
    'coldframe sandbox exec ID ls -la',
    'coldframe sandbox cp app.mjs ID:/home/user/',
  ],
};

const TEMPLATE: Subcommand = {
  name: 'template',
  operands: 'ACTION [OPERAND...]',
  summary: 'list, build and delete templates of a server',
  flags: [
    { name: 'name', value: 'NAME', help: 'build: the name of the template' },
    { name: 'file', short: 'f', value: 'FILE', help: 'build: the Dockerfile, by default FOLDER/Dockerfile' },
    { name: 'start', value: 'COMMAND', help: 'build: the command that runs in every sandbox; by default CMD' },
    { name: 'ready', value: 'COMMAND', help: 'build: succeeds when the start command is ready' },
    { name: 'no-cache', help: 'build: execute every step again' },
    { name: 'url', value: 'URL', help: 'the server, by default the server of `coldframe login`' },
    JSON_OUTPUT,
    HELP,
  ],
  actions: [
    ['list', 'list the templates'],
    ['build FOLDER', 'build a template from the Dockerfile of a folder'],
    ['delete ID...', 'delete templates or snapshots'],
  ],
  words: ['list', 'build', 'delete'],
  examples: ['coldframe template build . --name my-app', 'coldframe template list'],
};

const URL_FLAG = { name: 'url', value: 'URL', help: 'the server, by default http://127.0.0.1:3000' };

const LOGIN: Subcommand = {
  name: 'login',
  operands: '',
  summary: 'check and store the key of a server; the key is read from stdin or COLDFRAME_API_KEY',
  flags: [URL_FLAG, HELP],
  examples: ['coldframe login --url https://api.sandboxes.test'],
};

const LOGOUT: Subcommand = {
  name: 'logout',
  operands: '',
  summary: 'remove the stored key',
  flags: [HELP],
  examples: ['coldframe logout'],
};

const WHOAMI: Subcommand = {
  name: 'whoami',
  operands: '',
  summary: 'print the server and check the key',
  flags: [URL_FLAG, JSON_OUTPUT, HELP],
  examples: ['coldframe whoami'],
};

/** The subcommands that need the package `@coldframe/server`. */
export const SERVER_SUBCOMMANDS: readonly Subcommand[] = [SERVE, SANDBOX, TEMPLATE, LOGIN, LOGOUT, WHOAMI];
