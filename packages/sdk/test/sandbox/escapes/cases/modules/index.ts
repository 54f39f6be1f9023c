// Tries to lead the module loader out of the guest's tree with addresses, packages, hooks and
// caches.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EscapeCase, Theme } from '../../harness/case.js';

const pack = (
  name: string,
  fields: object,
  then: string,
  expected: EscapeCase['expected'] = /^(?!.*(root:|canary))[A-Za-z_, ]+$/,
): EscapeCase => ({
  name,
  program: `
fs.mkdirSync('node_modules/p', { recursive: true });
fs.writeFileSync('node_modules/p/package.json', ${JSON.stringify(JSON.stringify({ name: 'p', ...fields }))});
${then}`,
  expected,
});

const BOTH = `
say(await later(() => import('p')), tried(() => require('p')), await later(() => import('p/x')), tried(() => require('p/x')));`;

export const modules: Theme = {
  name: 'modules',
  cases: [
    {
      name: 'addresses that are not files of the guest are refused',
      program: `
const urls = [
  'http://169.254.169.254/x.js', 'https://example.com/x.mjs', 'file://host/x.js', 'file:///etc/shadow', 'ftp://a/b', 'blob:x',
  'about:blank', 'node:none', 'node:internal/util', 'wasm:x', 'coldframe:entry', 'data:text/html,x', 'data:application/wasm,x',
  '//etc/shadow', 'file:///proc/self/mem', 'file:///%2e%2e/etc/shadow', 'file:///etc%2Fshadow', '\\0', ''
];
say((await Promise.all(urls.map((url) => later(() => import(url)))))
  .every((code) => /^(ERR_|E[A-Z]|TypeError|SyntaxError)/.test(code)));`,
      expected: 'true',
    },
    {
      name: 'climbing names reach no file of the host machine from any kind of module',
      program: `
const climb = '../'.repeat(40);
const names = [climb + 'etc/shadow', '/etc/shadow', './../../../../etc/shadow', '/dev/zero', '/etc', '/'];
const codes = [...names, '/proc/self/environ'].map((name) => tried(() => require(name)));
codes.push(...(await Promise.all(names.map((name) => later(() => import(name))))));
say(codes.every((code) => /^(ERR_|MODULE_NOT_FOUND|[A-Z][a-z]+Error|E[A-Z]|\\[object Object)/.test(code)) || codes.join());`,
      options: { limits: { memoryBytes: 64 << 20 } },
      expected: { error: /^(none|ERR_MEMORY_LIMIT)$/, stdout: /^(true)?$/ },
    },
    {
      name: 'an import of the environment of a process as CommonJS is a syntax error',
      program: `say(await later(() => import('/proc/self/environ')));`,
      expected: { error: /^none$/, stdout: /^SyntaxError$/ },
    },
    pack(
      'a package cannot export targets outside of itself',
      { exports: { '.': '../../../../etc/passwd', './x': './../../../etc/passwd' }, main: '../../../etc/passwd' },
      BOTH,
      /^(ERR_INVALID_PACKAGE_TARGET ?){4}$/,
    ),
    pack(
      'a package cannot export absolute, encoded or non-text targets',
      { exports: { '.': '/etc/passwd', './x': './%2e%2e/%2e%2e/%2e%2e/etc/passwd' } },
      BOTH,
      /^(ERR_[A-Z_]+ ?){4}$/,
    ),
    pack(
      'a package cannot have a host path as main',
      { main: '/etc/passwd', imports: { '#a': '/etc/shadow', '#b': 'file:///etc/shadow', '#c': '../../x' } },
      BOTH,
    ),
    pack(
      'a package cannot export patterns with dots',
      { exports: { './*': './*' } },
      `
say(
  await later(() => import('p/../../../../etc/passwd')),
  tried(() => require('p/../../etc/shadow')),
  await later(() => import('p/%2e%2e/%2e%2e/package.json'))
);`,
      /^(ERR_[A-Z_]+|MODULE_NOT_FOUND| )+$/,
    ),
    pack(
      'deep, long and poisoned package descriptions are contained',
      {},
      `
for (const text of [
  '['.repeat(100_000), '{"exports":' + '{"a":'.repeat(10_000), '{"__proto__":{"polluted":1},"main":{"toString":1}}', '"x"',
  'null', '{"exports":{"__proto__":"./x"}}', '\\ufeff{}', ''
]) {
  fs.writeFileSync('node_modules/p/package.json', text);
  tried(() => require('p'));
  await later(() => import('p' + '?' + text.length));
}
say(String({}.polluted));`,
      'undefined',
    ),
    {
      name: 'a package that is a link out of the mounted folder is refused',
      prepare: ({ inside, outside }) => {
        mkdirSync(join(inside, 'modules'));
        writeFileSync(join(outside, 'index.js'), 'module.exports = "escaped"');
        symlinkSync('../../outside', join(inside, 'modules/out'));
        symlinkSync(outside, join(inside, 'modules/absolute'));
      },
      options: ({ inside }) => ({ nodeModules: join(inside, 'modules') }),
      program: `
say(
  tried(() => require('out')), tried(() => require('absolute')), await later(() => import('out')),
  tried(() => require('out/protected')), tried(() => fs.readdirSync('node_modules/out'))
);`,
      expected: /^(?!.*escaped)(EACCES|MODULE_NOT_FOUND|ERR_MODULE_NOT_FOUND| )+$/,
    },
    {
      name: 'hooks of the loader reach no file of the host machine',
      execOptions: { execArgv: ['--no-warnings'] },
      program: `
const module = require('module');
module.registerHooks({
  resolve: (name, context, next) => (name.startsWith('evil:')
    ? { url: name.slice(5), format: context.format ?? 'commonjs', shortCircuit: true }
    : next(name, context)),
  load: (url, context, next) =>
    (url.startsWith('lie:') ? { format: 'builtin', source: null, shortCircuit: true } : next(url, context))
});
const names = [
  'evil:file:///etc/shadow', 'evil:node:internal/bootstrap/realm', 'evil:lie:fs', 'evil:http://x/', 'evil:file://host/x',
  'evil:wasm:x', 'evil:'
];
const codes = await Promise.all(names.map((name) => later(() => import(name))));
codes.push(...names.map((name) => tried(() => require(name))));
say(codes.every((code) => !/root:|object Module/.test(code)) || codes.join());`,
      expected: { error: 'none', stdout: /^(true|)$/ },
    },
    {
      name: 'poisoned caches of the loader reach no file of the host machine',
      program: `
const Module = require('module');
Module._cache['/etc/shadow'] = { exports: 'x', loaded: true };
Module._pathCache['x\\0/workspace'] = '/etc/shadow';
require.cache.fs = { exports: 'evil' };
Module._extensions['.js'] = (module, name) => module._compile('module.exports = require("fs").readFileSync("/etc/shadow")', name);
fs.writeFileSync('x.js', '');
Module.globalPaths.push('/root', '/etc');
Module._initPaths?.();
const { Module: Own } = Module;
const evil = new Own('/etc/shadow');
evil.filename = '/etc/shadow';
evil.paths = ['/root'];
say(
  tried(() => require('./x.js')), tried(() => evil.require('./shadow')), tried(() => evil.load('/etc/shadow')),
  tried(() => typeof require('fs').readFileSync)
);`,
      expected: /^(ENOENT|MODULE_NOT_FOUND|[A-Z][A-Za-z_]+| )+(function|undefined)$/,
    },
    {
      name: 'forged compiled code is refused',
      program: `
const vm = require('vm'); const good = new vm.Script('1 + 1', { filename: 'a.js' }).createCachedData(); const answers = [];
for (let i = 0; i < 400; i++) {
  const data = Buffer.from(good);
  for (let j = 0; j <= i % 7; j++) data[(i * 7_919 + j * 104_729) % Math.max(1, data.length)] ^= 1 + (i % 255);
  try {
    const script = new vm.Script('1 + 1', { filename: 'a.js', cachedData: i % 3 ? data : data.subarray(0, i) });
    answers.push(script.runInThisContext());
  } catch (error) { answers.push(error.name); }
}
for (const data of [Buffer.alloc(1 << 20, 0xff), Buffer.alloc(0), Buffer.from('QJS'), good.subarray(1)])
  answers.push(tried(() => new vm.Script('2', { cachedData: data }).runInThisContext()));
say(distinct(answers.map(String)));`,
      expected: '2',
    },
    {
      name: 'forged serialized values are refused',
      program: `
const v8 = require('v8');
const good =
  v8.serialize(new Map([[1, { a: [1n, new Date(0), /x/g, new Uint8Array(8), 'text', new Set([1])], b: new Error('x') }]]));
let read = 0;
for (let i = 0; i < 3_000; i++) {
  const data = Buffer.from(good);
  for (let j = 0; j <= i % 5; j++) data[(i * 31 + j * 7_919) % data.length] = (i * 13 + j * 101) & 255;
  try { v8.deserialize(data); read++; } catch {}
}
for (const hex of [
  'ff0f', 'ff0f41ffffffff7f', 'ff0f42ffffffff0f', 'ff0f5affffffff7f', 'ff0f63ffffffff', 'ff0f6f5e00', 'ff0f56425affffff7f00',
  'ff0f22ffffffff7f', 'ff0f61ffffffff0f24'
]) tried(() => v8.deserialize(Buffer.from(hex, 'hex')));
tried(() => new v8.Deserializer(Buffer.alloc(0)).readRawBytes(2 ** 31));
tried(() => new v8.Deserializer(Buffer.alloc(4)).readDouble());
say(read >= 0);`,
      expected: 'true',
    },
    {
      name: 'WebAssembly opens no second path into the sidecar',
      program: `
say(typeof WebAssembly === 'undefined' || tried(() => {
  const module = new WebAssembly.Module(Buffer.from('0061736d01000000', 'hex'));
  return new WebAssembly.Instance(module) && 'instance';
}));`,
      expected: /^(true|instance|[A-Za-z_]+)$/,
    },
  ],
};
