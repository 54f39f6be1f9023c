// Tests the errors of denied operations in every interface of Node. An error has the code, the name
// of the permission, and the sentence with the rule and the remedy.

import { describe, expect, test } from 'vitest';
import { deferred } from '../../src/deferred.js';
import { NodeRuntime, type NodeRuntimeOptions, type PermissionEvent, type PermissionsPolicy } from '../../src/index.js';

const PRELUDE = `
  import * as fs from 'node:fs';
  import * as cp from 'node:child_process';
  import * as net from 'node:net';
  import * as tls from 'node:tls';
  import * as http from 'node:http';
  import * as https from 'node:https';
  import * as dgram from 'node:dgram';
  import * as dns from 'node:dns';
  const facts = (error) => ({ code: error.code, permission: error.permission, message: error.message });
  // Returns the facts of the error that a promise rejects with.
  const rejected = (promise) => promise.then(() => 'no error', facts);
  // Returns the facts of the first error event.
  const emitted = (make) => new Promise((resolve) => {
    make().once('error', (error) => resolve(facts(error)));
  });
  const thrown = (work) => { try { work(); return 'no error'; } catch (error) { return facts(error); } };
  const called = (work) => new Promise((resolve) => work((error) => resolve(error ? facts(error) : 'no error')));
  const socketError = (url) => new Promise((resolve) => {
    new WebSocket(url).onerror = ({ error, message }) => resolve({ ...facts(error.cause), event: message });
  });
`;

/** Runs the expressions in one program and returns their values by name. */
async function evaluate(runtime: NodeRuntime, expressions: Record<string, string>): Promise<Record<string, unknown>> {
  const lines = Object.entries(expressions).map(([name, code]) => `results[${JSON.stringify(name)}] = await (${code});`);
  const program = `${PRELUDE} const results = {}; ${lines.join('\n')} console.log(JSON.stringify(results)); process.exit();`;
  const { stdout, stderr } = await runtime.exec(program, { timeout: 120_000 });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

/**
 * Returns the facts of a denial: the permission, and the start of the message before the sentence.
 */
const denied = (permission: string, start: string, sentence: string) => ({
  code: 'EACCES',
  permission,
  message: `${start} (the permission ${permission} is denied ${sentence})`,
});

const OUTSIDE = 'the app can open hosts outside the runtime with the option network';
const NAME_CALLS = {
  'https.get': "emitted(() => https.get('https://example.com'))",
  'http.get': "emitted(() => http.get('http://example.com'))",
  'https fetch': "fetch('https://example.com').then(() => 'no error', ({ cause }) => facts(cause))",
  'http fetch': "fetch('http://example.com').then(() => 'no error', ({ cause }) => facts(cause))",
  'tls.connect': "emitted(() => tls.connect(443, 'example.com'))",
  'net.connect': "emitted(() => net.connect(443, 'example.com'))",
  'dns.lookup': "called((done) => dns.lookup('example.com', done))",
  'dns.promises.lookup': "rejected(dns.promises.lookup('example.com'))",
};
const QUERY_CALLS = {
  'dns.resolve': "called((done) => dns.resolve('example.com', done))",
  'dns.promises.resolve4': "rejected(dns.promises.resolve4('example.com'))",
};
const ADDRESS_CALLS = {
  'https.get': "emitted(() => https.get('https://93.184.216.34'))",
  'https fetch': "fetch('https://93.184.216.34').then(() => 'no error', ({ cause }) => facts(cause))",
  'tls.connect': "emitted(() => tls.connect(443, '93.184.216.34'))",
  'net.connect': "emitted(() => net.connect(443, '93.184.216.34'))",
};

const withRuntime = async (options: NodeRuntimeOptions, work: (runtime: NodeRuntime) => Promise<void>) => {
  const runtime = await NodeRuntime.create(options);
  try {
    await work(runtime);
  } finally {
    await runtime.dispose();
  }
};

const each = (calls: object, value: unknown) => Object.fromEntries(Object.keys(calls).map((name) => [name, value]));

describe.each<{ name: string; permissions: PermissionsPolicy['network']; by: string }>([
  { name: 'the default policy', permissions: undefined, by: 'by the default policy' },
  { name: 'a policy that denies the network', permissions: 'deny', by: 'by the default of permissions.network' },
  { name: 'a policy that allows the network', permissions: 'allow', by: 'because the address is outside the runtime' },
  {
    name: 'a policy with a rule',
    permissions: {
      default: 'allow',
      rules: [
        { mode: 'deny', patterns: ['10.0.0.1'] },
        { mode: 'deny', patterns: ['example.*', '93.184.216.34', '8.8.8.*'] },
      ],
    },
    by: 'by the rule permissions.network.rules[1]',
  },
])('$name', ({ permissions, by }) => {
  const options: NodeRuntimeOptions = permissions === undefined ? {} : { permissions: { network: permissions } };
  const sentence = `${by}; ${OUTSIDE}`;

  test('explains a denied name with the same words in every interface', () =>
    withRuntime(options, async (runtime) => {
      const lookup = denied('network.dns', 'getaddrinfo EACCES example.com', sentence);
      expect(await evaluate(runtime, NAME_CALLS)).toEqual(each(NAME_CALLS, lookup));
      const query = denied('network.dns', 'queryA EACCES example.com', sentence);
      expect(await evaluate(runtime, QUERY_CALLS)).toEqual(each(QUERY_CALLS, query));
      const reverse = denied('network.dns', 'getHostByAddr EACCES 8.8.8.8', sentence);
      expect(await evaluate(runtime, { reverse: "rejected(dns.promises.reverse('8.8.8.8'))" })).toEqual({ reverse });
      const sockets = { ws: "socketError('ws://example.com')", wss: "socketError('wss://example.com')" };
      expect(await evaluate(runtime, sockets)).toEqual(each(sockets, { ...lookup, event: lookup.message }));
    }));

  test('explains a denied address with the same words in every interface', () =>
    withRuntime(options, async (runtime) => {
      const start = 'connect EACCES 93.184.216.34:443 - Local (0.0.0.0:0)';
      const results = await evaluate(runtime, ADDRESS_CALLS);
      expect(results).toEqual(each(ADDRESS_CALLS, denied('network.connect', start, sentence)));
      const datagrams = {
        send: `called((done) => {
          const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1', () => socket.send('x', 53, '8.8.8.8', done));
        })`,
        connect: "emitted(() => { const socket = dgram.createSocket('udp4'); socket.connect(53, '8.8.8.8'); return socket; })",
      };
      if (permissions === 'deny') return;
      expect(await evaluate(runtime, datagrams)).toEqual({
        send: denied('network.udp', 'send EACCES 8.8.8.8:53', sentence),
        connect: denied('network.udp', 'connect EACCES 8.8.8.8:53', sentence),
      });
    }));
});

test('explains denied operations inside the runtime, in every interface', () =>
  withRuntime(
    {
      files: { '/data/secret/file': 'SECRET' },
      permissions: {
        fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/data/secret'] }] },
        network: 'deny',
        childProcess: { default: 'deny', rules: [{ mode: 'allow', patterns: ['sh'] }] },
        process: 'deny',
        binding: { default: 'allow', rules: [{ mode: 'deny', patterns: ['internal-*'] }] },
      },
      bindings: { 'internal-price': { description: 'a price', inputSchema: true, handler: () => 1 } },
    },
    async (runtime) => {
      const byDefault = (scope: string) =>
        `by the default of permissions.${scope}; the app can allow it with a rule in the option permissions.${scope}`;
      const byRule = (scope: string) =>
        `by the rule permissions.${scope}.rules[0]; the app can allow it with a deeper rule in the option permissions.${scope}`;
      const results = await evaluate(runtime, {
        listen: "emitted(() => net.createServer().listen(8080, '127.0.0.1'))",
        connect: "emitted(() => net.connect(8080, '127.0.0.1'))",
        bind: "emitted(() => dgram.createSocket('udp4').bind(9000, '127.0.0.1'))",
        lookup: "rejected(dns.promises.lookup('localhost'))",
        unixListen: "emitted(() => net.createServer().listen('/data/secret/socket'))",
        unixConnect: "emitted(() => net.connect('/data/secret/socket'))",
        spawn: "emitted(() => cp.spawn('ls'))",
        execFile: "called((done) => cp.execFile('ls', done))",
        spawnSync: "facts(cp.spawnSync('ls').error)",
        execFileSync: "thrown(() => cp.execFileSync('ls'))",
        readFileSync: "thrown(() => fs.readFileSync('/data/secret/file'))",
        readFile: "rejected(fs.promises.readFile('/data/secret/file'))",
        watch: "thrown(() => fs.watch('/data/secret'))",
        chdir: "thrown(() => process.chdir('/data'))",
        kill: "thrown(() => process.kill(cp.spawn('sh', ['-c', 'read line']).pid, 0))",
        binding: "rejected(callBinding('internal-price', {}))",
      });
      const connect = 'connect EACCES 127.0.0.1:8080 - Local (0.0.0.0:0)';
      const open = "EACCES: permission denied, open '/data/secret/file'";
      expect(results).toEqual({
        listen: denied('network.listen', 'listen EACCES: permission denied 127.0.0.1:8080', byDefault('network')),
        connect: denied('network.connect', connect, byDefault('network')),
        bind: denied('network.udp', 'bind EACCES 127.0.0.1:9000', byDefault('network')),
        lookup: denied('network.dns', 'getaddrinfo EACCES localhost', byDefault('network')),
        unixListen: denied('fs.write', 'listen EACCES: permission denied /data/secret/socket', byRule('fs')),
        unixConnect: denied('fs.write', 'connect EACCES /data/secret/socket', byRule('fs')),
        spawn: denied('childProcess.spawn', 'spawn ls EACCES', byDefault('childProcess')),
        execFile: denied('childProcess.spawn', 'spawn ls EACCES', byDefault('childProcess')),
        spawnSync: denied('childProcess.spawn', 'spawnSync ls EACCES', byDefault('childProcess')),
        execFileSync: denied('childProcess.spawn', 'spawnSync ls EACCES', byDefault('childProcess')),
        readFileSync: denied('fs.read', open, byRule('fs')),
        readFile: denied('fs.read', open, byRule('fs')),
        watch: denied('fs.watch', "EACCES: permission denied, watch '/data/secret'", byRule('fs')),
        chdir: denied('process.chdir', "EACCES: permission denied, chdir '/workspace' -> '/data'", byDefault('process')),
        kill: denied('process.signal', 'kill EACCES', byDefault('process')),
        binding: denied('binding.call', "EACCES: permission denied, binding.call 'internal-price'", byRule('binding')),
      });
      expect(JSON.stringify(results)).not.toContain('internal-*');
    },
  ));

test('an uncaught denial prints the sentence in the first line of the stack', () =>
  withRuntime({}, async (runtime) => {
    const { stderr, exitCode } = await runtime.exec("import { get } from 'node:https'; get('https://example.com');");
    const message = `getaddrinfo EACCES example.com (the permission network.dns is denied by the default policy; ${OUTSIDE})`;
    expect(stderr).toContain(`Error: ${message}\n    at `);
    expect(stderr).toContain("permission: 'network.dns'");
    expect(exitCode).toBe(1);
  }));

test('an EACCES that no permission caused has no sentence', () =>
  withRuntime({}, async (runtime) => {
    const results = await evaluate(runtime, {
      denied: "rejected(fs.promises.readFile('/none').catch(() => dns.promises.lookup('example.com')))",
      mode: "thrown(() => fs.writeFileSync('/etc/passwd', ''))",
      folder: "emitted(() => net.createServer().listen('/none/socket'))",
      'connection refused': "emitted(() => net.connect(1, '127.0.0.1'))",
      'reserved name': "rejected(dns.promises.lookup('host.invalid'))",
      'query inside': "rejected(dns.promises.resolve4('localhost'))",
    });
    expect(results).toEqual({
      denied: denied('network.dns', 'getaddrinfo EACCES example.com', `by the default policy; ${OUTSIDE}`),
      mode: { code: 'EACCES', message: "EACCES: permission denied, open '/etc/passwd'" },
      folder: { code: 'EACCES', message: 'listen EACCES: permission denied /none/socket' },
      'connection refused': { code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:1' },
      'reserved name': { code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND host.invalid' },
      'query inside': { code: 'ECONNREFUSED', message: 'queryA ECONNREFUSED localhost' },
    });
  }));

test('concurrent denials keep their own sentences', () =>
  withRuntime(
    {
      permissions: {
        network: {
          default: 'allow',
          rules: Array.from({ length: 20 }, (_, n) => ({ mode: 'deny' as const, patterns: [`host${n}.test`] })),
        },
        childProcess: 'deny',
      },
    },
    async (runtime) => {
      const results = await evaluate(runtime, {
        names: "Promise.all(Array.from({ length: 20 }, (_, n) => rejected(dns.promises.lookup('host' + n + '.test'))))",
        mixed: `Promise.all([
          emitted(() => cp.spawn('ls')),
          rejected(dns.promises.lookup('host3.test')),
          emitted(() => cp.spawn('cat')),
        ])`,
      });
      const name = (n: number) =>
        denied('network.dns', `getaddrinfo EACCES host${n}.test`, `by the rule permissions.network.rules[${n}]; ${OUTSIDE}`);
      const scope = 'permissions.childProcess';
      const by = `by the default of ${scope}; the app can allow it with a rule in the option ${scope}`;
      expect(results['names']).toEqual(Array.from({ length: 20 }, (_, n) => name(n)));
      expect(results['mixed']).toEqual([
        denied('childProcess.spawn', 'spawn ls EACCES', by),
        name(3),
        denied('childProcess.spawn', 'spawn cat EACCES', by),
      ]);
    },
  ));

test('the permission event has the pattern and the sentence of the error', () =>
  withRuntime(
    { permissions: { network: { default: 'allow', rules: [{ mode: 'deny', patterns: ['a.test', '*.internal.test'] }] } } },
    async (runtime) => {
      const events: PermissionEvent[] = [];
      const received = deferred<void>();
      await runtime.onPermission((event) => {
        if (event.scope === 'network') events.push(event);
        if (event.resource === 'localhost') received.resolve();
      });
      const { error } = await evaluate(runtime, { error: "rejected(dns.promises.lookup('db.internal.test'))" });
      await runtime.exec("import dns from 'node:dns'; await dns.promises.lookup('localhost');");
      await received.promise;
      const reason = `the permission network.dns is denied by the rule permissions.network.rules[0]; ${OUTSIDE}`;
      const common = { scope: 'network', operation: 'dns', pid: expect.any(Number), time: expect.any(Number) };
      expect(events).toEqual([
        { ...common, resource: 'db.internal.test', decision: 'deny', rule: 0, pattern: '*.internal.test', reason },
        { ...common, resource: 'localhost', decision: 'allow' },
      ]);
      expect((error as { message: string }).message).toBe(`getaddrinfo EACCES db.internal.test (${reason})`);
    },
  ));

const SHELL_COMMANDS = {
  "cat /data/file | node -e ''": 'cat: /data/file',
  'cmp /data/file /tmp': 'cmp: /data/file',
  'dd if=/data/file': "dd: failed to open '/data/file'",
  'hexdump /data/file': 'hexdump: /data/file',
  'ls /data/file': "ls: cannot access '/data/file'",
  'sh /data/file': 'bash: /data/file',
  'truncate -s 0 /data/file': "truncate: cannot open '/data/file' for writing",
  'xxd /data/file': 'xxd: /data/file',
};

test('commands of the shell name the rule that denies a file', () => {
  const permissions = { fs: { default: 'allow', rules: [{ mode: 'deny', paths: ['/data'] }] } } as const;
  return withRuntime({ files: { '/data/file': 'x' }, permissions }, async (runtime) => {
    for (const [command, start] of Object.entries(SHELL_COMMANDS)) {
      const { stderr } = await runtime.execCommand('sh', ['-c', command], { timeout: 60_000 });
      const sentence =
        / \(the permission (fs\.\w+) is denied by the rule permissions\.fs\.rules\[0\]; the app can allow it .*\)\n$/;
      expect([command, stderr.replace(sentence, ' ($1)')]).toEqual([
        command,
        expect.stringMatching(/: Permission denied \(fs\.\w+\)$/),
      ]);
      expect(stderr.startsWith(`${start}: `), `${command}: ${stderr}`).toBe(true);
    }
    // A file whose mode denies the access has no rule.
    const { stderr } = await runtime.execCommand('sh', ['-c', "echo > own; chmod 0 own; cat own | node -e ''"]);
    expect(stderr).toBe('cat: own: Permission denied\n');
  });
});
