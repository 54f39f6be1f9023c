// The examples of webpack, Vite and Next.js run, with the line that keeps coldframe out of the
// bundle and without the line. Only the long form installs these bundlers, into the folder of the
// hosts' downloads.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { download } from '../../hosts/download.mjs';
import { readJson } from '../tree.mjs';
import { copyColdframe, copyExample, OUTPUT, remove, runNode } from './bundled-app.mjs';

const isLong = process.env.COLDFRAME_TESTS === 'long';
const LONGEST_MS = 20 * 60_000;

/** The packages of the examples, and the packages that npm would install for coldframe. */
function packages() {
  const { esbuild: _, ...bundlers } = readJson('examples/bundlers/package.json').devDependencies;
  const dependencies = Object.entries(readJson('packages/sdk/package.json').dependencies);
  const fromRegistry = dependencies.filter(([, version]) => !version.startsWith('workspace:'));
  return [...Object.entries(bundlers), ...fromRegistry].map(([name, version]) => `${name}@${version}`);
}

/** The programs of the bundlers, in the folder `node_modules` of the download. */
const PROGRAMS = { vite: 'vite/bin/vite.js', webpack: 'webpack-cli/bin/cli.js', next: 'next/dist/bin/next' };

/** Next.js builds with Turbopack or with webpack. */
const NEXT_WEBPACK = 'next --webpack';
const NEXT_ENV = { NEXT_TELEMETRY_DISABLED: '1' };

/** The line of each configuration that mentions coldframe. */
const LINES = /^.*\['?coldframe'?\].*$|^.*coldframe: 'module coldframe'.*$/m;

const CONFIGURATIONS = {
  vite: 'vite/vite.config.mjs',
  webpack: 'webpack/webpack.config.mjs',
  next: 'next/next.config.mjs',
  [NEXT_WEBPACK]: 'next/next.config.mjs',
};

const CASES = ['vite', 'webpack', 'next', NEXT_WEBPACK].flatMap((name) => [
  { name, line: 'with the line' },
  { name, line: 'without the line' },
]);

/** Calls `use` with the URL of a Next.js server, until `use` has ended. */
async function served(program, app, use) {
  const server = spawn(process.execPath, [program, 'start', 'next', '--port', '0'], {
    cwd: app,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...NEXT_ENV, NO_COLOR: '1' },
  });
  const closed = once(server, 'close');
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const [url] = /http:\/\/localhost:\d+/.exec(line) ?? [];
      if (url !== undefined) return await use(url);
    }
    throw new Error('the server ended before it named its URL');
  } finally {
    server.kill();
    await closed;
  }
}

describe.runIf(isLong)('bundlers', () => {
  let modules;
  let app;
  beforeAll(async () => {
    const bundlers = packages();
    const digest = createHash('sha256').update(bundlers.join()).digest('hex').slice(0, 12);
    modules = await download(`bundlers-${digest}`, bundlers);
    app = copyExample(dirname(modules));
    copyColdframe(app);
  }, LONGEST_MS);
  afterAll(() => remove(app));

  const program = (name) => join(modules, PROGRAMS[name]);
  const build = {
    vite: () => runNode([program('vite'), 'build', 'vite'], app),
    webpack: () => runNode([program('webpack'), '--config', 'webpack/webpack.config.mjs'], app),
    next: () => runNode([program('next'), 'build', 'next'], app, NEXT_ENV),
    [NEXT_WEBPACK]: () => runNode([program('next'), 'build', 'next', '--webpack'], app, NEXT_ENV),
  };
  const checkNext = () =>
    served(program('next'), app, async (url) => {
      const response = await fetch(`${url}/api/run`);
      expect(await response.json()).toEqual({ exitCode: 0, stdout: '42\n' });
    });
  const check = {
    vite: async () => expect(await runNode(['vite/dist/app.js'], app)).toBe(OUTPUT),
    webpack: async () => expect(await runNode(['webpack/dist/app.mjs'], app)).toBe(OUTPUT),
    next: checkNext,
    [NEXT_WEBPACK]: checkNext,
  };

  test.each(CASES)(
    'the example of $name runs $line',
    async ({ name, line }) => {
      const file = join(app, CONFIGURATIONS[name]);
      const text = readFileSync(file, 'utf8');
      expect(text).toMatch(LINES);
      if (line === 'without the line') writeFileSync(file, text.replace(LINES, ''));
      try {
        await build[name]();
        await check[name]();
      } finally {
        writeFileSync(file, text);
      }
    },
    LONGEST_MS,
  );
});
