// Tests builds of templates with E2B's own client.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox, Template, waitForFile, waitForPort, waitForProcess, waitForTimeout, waitForURL } from 'e2b';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startServer } from './harness.ts';

let harness: Harness;
let context: string;
beforeAll(async () => {
  harness = await startServer();
  context = await mkdtemp(join(tmpdir(), 'coldframe-context-'));
  await writeFile(join(context, 'one.txt'), 'one');
  await writeFile(join(context, 'two.txt'), 'two');
});
afterAll(async () => {
  await harness.close();
  await rm(context, { recursive: true });
});

const options = () => ({ ...harness.connection, cpuCount: 1, memoryMB: 512 });
const linesOf = async (template: Parameters<typeof Template.build>[0], name: string): Promise<string[]> => {
  const lines: string[] = [];
  await Template.build(template, name, { ...options(), onBuildLogs: ({ message }) => lines.push(message) });
  return lines;
};

test('the steps of a build are in each new sandbox', async () => {
  const template = Template({ fileContextPath: context })
    .fromNodeImage()
    .setEnvs({ GREETING: 'hello' })
    .setWorkdir('/app')
    .copy('*.txt', 'files')
    .copy('one.txt', '/app/renamed.txt', { mode: 0o600 })
    .runCmd('echo "$GREETING" > greeting && cat files/two.txt >> greeting');
  await Template.build(template, 'steps:v1', options());
  await harness.withSandbox(
    async ({ commands, files }) => {
      expect((await commands.run('pwd; cat greeting; echo " $GREETING"')).stdout).toBe('/app\nhello\ntwo hello\n');
      expect(await files.getInfo('/app/renamed.txt')).toMatchObject({ mode: 0o600 });
      expect((await files.list('/app/files')).map(({ name }) => name)).toEqual(['one.txt', 'two.txt']);
    },
    { template: 'steps:v1' },
  );
  expect(await Template.exists('steps', harness.connection)).toBe(true);
  await expect(Sandbox.create('steps', harness.connection)).rejects.toThrow('it has no tag default');
});

test('a repeated build uses the kept results of its steps', async () => {
  const build = () => Template().fromImage('ubuntu:22.04').runCmd('node -p "crypto.randomUUID()" > stamp').runCmd('echo done');
  await Template.build(build(), 'kept', options());
  const stampOf = () => harness.withSandbox(({ files }) => files.read('stamp'), { template: 'kept' });
  const first = await stampOf();
  const lines = await linesOf(build(), 'kept');
  expect(lines.filter((line) => line.includes('CACHED'))).toHaveLength(2);
  expect(await stampOf()).toBe(first);
  await Template.build(build(), 'kept', { ...options(), skipCache: true });
  expect(await stampOf()).not.toBe(first);
});

test('the program of the start command runs in each new sandbox', async () => {
  const ready = `require('fs').writeFileSync('/tmp/ready', '')`;
  const program = `require('http').createServer((q, s) => s.end('up')).listen(3000, () => ${ready})`;
  const template = Template().fromTemplate('base').setStartCmd(`node -e "${program}"`, waitForFile('/tmp/ready'));
  await Template.build(template, 'started', options());
  await harness.withSandbox(
    async ({ commands }) => {
      const get = `fetch('http://localhost:3000').then((r) => r.text()).then(console.log)`;
      expect((await commands.run(`node -e "${get}"`)).stdout).toBe('up\n');
      expect((await commands.list()).length).toBe(1);
    },
    { template: 'started' },
  );
});

test.each<[string, string | ReturnType<typeof waitForPort>]>([
  ['waitForPort', waitForPort(3000)],
  ['waitForPort of older clients', '[ "$(ss -tuln | grep :3000)" != "" ]'],
  ['waitForURL', waitForURL('http://localhost:3000/health')],
  ['waitForProcess', waitForProcess('node')],
  ['waitForTimeout', waitForTimeout(1_000)],
])('a build becomes ready with the command of %s', async (name, ready) => {
  // A server that listens late fails the first attempts of a ready command.
  const listen = `require('http').createServer((q, s) => s.end('up')).listen(3000)`;
  const template = Template().fromTemplate('base').setStartCmd(`node -e "setTimeout(() => ${listen}, 300)"`, ready);
  const alias = `ready-${name.toLowerCase().replaceAll(' ', '-')}`;
  await Template.build(template, alias, options());
  await harness.withSandbox(
    async ({ commands }) => {
      expect((await commands.run('sleep 0.5; curl -s localhost:3000; ss -Htln sport = :3000 | wc -l')).stdout).toBe('up1\n');
    },
    { template: alias },
  );
});

test('a failed step names itself', async () => {
  const failing = Template().fromImage('debian').runCmd('echo before; exit 3');
  await expect(Template.build(failing, 'failing', options())).rejects.toThrow(
    "failed to run command 'echo before; exit 3': exit status 3",
  );
  await expect(Template.build(Template().fromPythonImage(), 'image', options())).rejects.toThrow(
    'The image python:3 is not available',
  );
  await expect(Template.build(Template().fromTemplate('missing'), 'missing-base', options())).rejects.toThrow(
    'missing was not found',
  );
  await expect(Sandbox.create('failing', harness.connection)).rejects.toThrow('was not found');
});

test('tags name builds, and a deleted template is removed', async () => {
  await Template.build(Template().fromImage('node:22').runCmd('echo 1 > v'), 'tagged:v1', options());
  await Template.build(Template().fromImage('node:22').runCmd('echo 2 > v'), 'tagged:v2', options());
  await Template.assignTags('tagged:v1', ['stable'], harness.connection);
  const versionOf = (template: string) => harness.withSandbox(async ({ files }) => (await files.read('v')).trim(), { template });
  expect([await versionOf('tagged:stable'), await versionOf('tagged:v2')]).toEqual(['1', '2']);
  expect((await Template.getTags('tagged', harness.connection)).map(({ tag }) => tag)).toEqual(['v1', 'v2', 'stable']);
  await Template.removeTags('tagged', ['stable'], harness.connection);
  await expect(versionOf('tagged:stable')).rejects.toThrow('it has no tag stable');
  expect((await harness.call('DELETE', '/templates/one%2Ftagged%3Av1')).status).toBe(204);
  expect(await Template.exists('tagged', harness.connection)).toBe(false);
});

test('a Dockerfile of an older client is built', async () => {
  const dockerfile = `FROM ubuntu
ENV A=1 B="two words"
WORKDIR /srv
RUN echo "$A $B" \\
  > out
# comment
CMD ["node", "-e", "setInterval(() => {}, 1000)"]
`;
  const made = await harness.call('POST', '/templates', { alias: 'docker', dockerfile });
  expect(made.status).toBe(202);
  const { templateID, buildID } = made.body;
  expect((await harness.call('POST', `/templates/${templateID}/builds/${buildID}`, {})).status).toBe(202);
  await expect
    .poll(async () => (await harness.call('GET', `/templates/${templateID}/builds/${buildID}/status`)).body.status, {
      timeout: 20_000,
    })
    .toBe('ready');
  await harness.withSandbox(
    async ({ files, commands }) => {
      expect(await files.read('/srv/out')).toBe('1 two words\n');
      expect((await commands.list()).length).toBe(1);
    },
    { template: 'docker' },
  );
});

test('a link for an upload works only with its signature', async () => {
  const { templateID } = (await harness.call('POST', '/v3/templates', { name: 'upload' })).body;
  const { body } = await harness.call('GET', `/templates/${templateID}/files/abc`);
  const url = new URL(body.url);
  expect((await fetch(url, { method: 'PUT', body: 'bytes' })).status).toBe(200);
  for (const [name, value] of [
    ['tenant', 'two'],
    ['until', '9999999999999'],
    ['signature', '0'],
  ] as const) {
    const wrong = new URL(url);
    wrong.searchParams.set(name, value);
    expect((await fetch(wrong, { method: 'PUT', body: 'bytes' })).status).toBe(401);
  }
  expect((await harness.call('GET', `/templates/${templateID}/files/abc`)).body.present).toBe(true);
});
