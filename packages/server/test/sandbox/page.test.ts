// Tests the web page in a headless Chromium of the system. `COLDFRAME_CHROMIUM` names another
// program, and `COLDFRAME_SCREENSHOTS` a folder for pictures of the page.

import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Client } from '../../dist/client/client.js';
import { type Harness, KEY, startServer } from './harness.js';

const PROGRAM = process.env['COLDFRAME_CHROMIUM'] ?? '/usr/bin/chromium';
const SCREENSHOTS = process.env['COLDFRAME_SCREENSHOTS'];
const hasBrowser = existsSync(PROGRAM);
if (!hasBrowser) console.warn(`The page is not tested: ${PROGRAM} is missing. Install Chromium, for example with apt-get.`);

const browserTest = test.skipIf(!hasBrowser);
const WIDE = { width: 1_280, height: 800 };
/** The name of a snapshot begins with its tenant. */
const FIRST = /^\w+\/first$/;
const NARROW = { width: 390, height: 844 };

/** Runs in the browser: the width of the window, and the width that the page needs. */
const WIDTHS = `(() => {
  const { clientWidth, scrollWidth } = document.documentElement;
  const main = document.querySelector('.main');
  const inner = main === null ? 0 : main.scrollWidth - main.clientWidth;
  return { width: clientWidth, needed: scrollWidth + Math.max(0, inner) };
})()`;

let server: Harness;
let browser: Browser;
let client: Client;
let context: BrowserContext;
let faults: string[];

beforeAll(async () => {
  if (!hasBrowser) return;
  server = await startServer();
  client = new Client({ url: server.url, apiKey: KEY });
  browser = await chromium.launch({ executablePath: PROGRAM, args: ['--no-sandbox'] });
  if (SCREENSHOTS !== undefined) await mkdir(SCREENSHOTS, { recursive: true });
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
beforeEach(async () => {
  faults = [];
  if (hasBrowser) context = await browser.newContext({ viewport: WIDE });
});
afterEach(async () => {
  if (!hasBrowser) return;
  await context.close();
  // The policy of the page refuses nothing that the page does.
  expect(faults).toEqual([]);
});

async function open(address = '', options: { viewport?: typeof WIDE; colorScheme?: 'light' | 'dark' } = {}): Promise<Page> {
  const page = await context.newPage();
  if (options.viewport !== undefined) await page.setViewportSize(options.viewport);
  if (options.colorScheme !== undefined) await page.emulateMedia({ colorScheme: options.colorScheme });
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Trusted/i.test(message.text())) faults.push(message.text());
  });
  await page.goto(`${server.url}/ui/${address}`);
  return page;
}

async function logIn(address = '', options = {}): Promise<Page> {
  const page = await open(address, options);
  await page.getByLabel('API key').fill(KEY);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Log out' }).waitFor();
  return page;
}

async function look(page: Page, name: string): Promise<void> {
  if (SCREENSHOTS !== undefined) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

async function withSandbox(use: (id: string) => Promise<void>, metadata: Record<string, string> = {}): Promise<void> {
  const { sandboxID } = await client.create({ metadata });
  try {
    await use(sandboxID);
  } finally {
    await client.kill(sandboxID).catch(() => {});
  }
}

const agentOf = async (id: string) => client.agent(await client.get(id));

browserTest('asks for the key, and keeps the key out of URLs and of other tabs', async () => {
  const page = await open();
  await look(page, 'login');
  await page.getByLabel('API key').fill('wrong');
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('alert').getByText('invalid API key').waitFor();
  const urls: string[] = [];
  page.on('request', (request) => urls.push(request.url()));
  await page.getByLabel('API key').fill(KEY);
  await page.keyboard.press('Enter');
  await page.getByText('There are no sandboxes.').waitFor();
  await look(page, 'empty');
  expect(urls.filter((url) => url.includes(KEY))).toEqual([]);
  await (await open()).getByLabel('API key').waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('API key').waitFor();
});

browserTest('the page has a strict policy, and loads only its own files', async () => {
  const page = await open();
  const response = await page.reload();
  const policy = response?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'; script-src 'self';");
  const loaded: string[] = [];
  page.on('request', (request) => loaded.push(new URL(request.url()).origin));
  await page.reload();
  expect(new Set(loaded)).toEqual(new Set([server.url]));
});

browserTest('creates, pauses, resumes and ends a sandbox by keyboard', async () => {
  const page = await logIn();
  await page.keyboard.press('n');
  await page.getByLabel('Name', { exact: true }).fill('by keyboard');
  await look(page, 'create');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'by keyboard' }).waitFor();
  const [{ sandboxID } = { sandboxID: '' }] = await client.list();
  await page.getByRole('button', { name: 'Pause' }).press('Enter');
  await page.getByRole('button', { name: 'Resume' }).press('Enter');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  // The arrow keys change the tab.
  await page.getByRole('tab', { name: 'overview' }).press('ArrowRight');
  await page.getByRole('tab', { name: 'files', selected: true }).waitFor();
  await page.getByRole('button', { name: 'Kill' }).press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect((await client.list()).length).toBe(1);
  await page.getByRole('button', { name: 'Kill' }).press('Enter');
  await page.getByRole('dialog').getByRole('button', { name: 'Kill' }).press('Enter');
  await page.getByText('There are no sandboxes.').waitFor();
  await expect(client.get(sandboxID)).rejects.toThrow('was not found');
});

browserTest('browses, shows, uploads, downloads and deletes files', async () =>
  withSandbox(async (id) => {
    const agent = await agentOf(id);
    const markup = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    await agent.write('/home/user/a.html', new TextEncoder().encode(markup));
    await agent.write('/home/user/<b>bold', new TextEncoder().encode('x'));
    await agent.makeDir('/home/user/folder');
    const page = await logIn(`#/${id}/files`);
    await page.getByRole('button', { name: 'a.html', exact: true }).click();
    // Content of a sandbox is text.
    await page.locator('pre', { hasText: markup }).waitFor();
    await page.getByRole('button', { name: '<b>bold', exact: true }).waitFor();
    await look(page, 'files');
    expect(await page.title()).toBe('Coldframe');
    const chooser = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Upload' }).click();
    await (await chooser).setFiles({ name: 'up.txt', mimeType: 'text/plain', buffer: Buffer.from('uploaded') });
    await page.getByRole('button', { name: 'up.txt', exact: true }).waitFor();
    expect(await (await agent.read('/home/user/up.txt')).text()).toBe('uploaded');
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download up.txt' }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await download).createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe('uploaded');
    await page.getByRole('button', { name: 'Delete up.txt' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'up.txt', exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'folder/' }).click();
    await page.getByText('The directory is empty.').waitFor();
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByLabel('Name', { exact: true }).fill('inner');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'inner/' }).click();
    expect((await agent.stat('/home/user/folder/inner')).type).toBe('directory');
  }),
);

browserTest('shows snapshots as a tree, and makes branches', async () =>
  withSandbox(
    async (id) => {
      const page = await logIn(`#/${id}/snapshots`);
      await page.getByRole('button', { name: 'Take a snapshot' }).click();
      await page.getByLabel('Name', { exact: true }).fill('first');
      await page.keyboard.press('Enter');
      await page.getByText(FIRST).waitFor();
      await page.getByRole('button', { name: /Branch from .*first/ }).click();
      await expect.poll(async () => (await client.list()).length).toBe(2);
      const branch = (await client.list()).find(({ sandboxID }) => sandboxID !== id)?.sandboxID as string;
      await page.locator('.tree ul ul ul').getByRole('link', { name: branch }).waitFor();
      await page.locator('.tree').getByRole('link', { name: 'origin' }).click();
      await look(page, 'snapshots');
      await page.getByRole('button', { name: /Delete .*first/ }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.locator('.tree').getByText(FIRST).waitFor({ state: 'detached' });
      await client.kill(branch);
    },
    { name: 'origin' },
  ),
);

browserTest('draws memory and CPU over time, and shows the programs', async () =>
  withSandbox(async (id) => {
    const events = (await agentOf(id)).start({ cmd: '/bin/bash', args: ['-c', 'sleep 1000'] });
    await events.next();
    const page = await logIn(`#/${id}/overview`);
    await page.locator('.chart .line').nth(2).waitFor({ state: 'attached' });
    await page
      .locator('.chart strong', { hasText: /MiB of/ })
      .first()
      .waitFor();
    await page.getByText('/bin/bash -c sleep 1000').waitFor();
    await look(page, 'charts');
    await page.getByRole('button', { name: /End the program/ }).click();
    await page.getByText('No program of a client runs.').waitFor();
    await events.return(undefined);
  }),
);

browserTest('shows the log as text', async () =>
  withSandbox(async (id) => {
    const page = await logIn(`#/${id}/logs`);
    const command = { cmd: '/bin/bash', args: ['-c', 'echo "<b>out</b>"; echo failed >&2'] };
    for await (const _ of (await agentOf(id)).start(command));
    await page.getByText('<b>out</b>').waitFor();
    await page.getByText('failed').waitFor();
    await look(page, 'logs');
  }),
);

browserTest('rolls a sandbox back to a snapshot', async () =>
  withSandbox(async (id) => {
    const agent = await agentOf(id);
    await agent.write('/home/user/state', new TextEncoder().encode('before'));
    await client.snapshot(id, 'kept');
    await agent.write('/home/user/state', new TextEncoder().encode('after'));
    const page = await logIn(`#/${id}/snapshots`);
    await page.getByRole('button', { name: /Roll back to .*kept/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Roll back' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await (await agent.read('/home/user/state')).text()).toBe('before');
  }),
);

browserTest('opens a terminal, which the keyboard can leave', async () =>
  withSandbox(async (id) => {
    const page = await logIn(`#/${id}/terminal`);
    await page.locator('.xterm').waitFor();
    await page.locator('.xterm-helper-textarea:focus').waitFor({ state: 'attached' });
    await page.keyboard.press('Shift+Escape');
    await page.locator('#tab-terminal:focus').waitFor();
    await look(page, 'terminal');
  }),
);

browserTest('a preview is a page of another origin without a key', async () =>
  withSandbox(async (id) => {
    const page = await logIn(`#/${id}/ports`);
    await page.getByRole('spinbutton', { name: 'Port' }).fill('3000');
    const request = page.waitForRequest((one) => one.url().includes(`3000-${id}.localhost`));
    await page.getByRole('button', { name: 'Show' }).click();
    const headers = await (await request).allHeaders();
    expect([headers['x-api-key'], headers['referer'], headers['cookie']]).toEqual([undefined, undefined, undefined]);
    expect(new URL((await request).url()).origin).not.toBe(server.url);
  }),
);

browserTest('shows the page of a server in a sandbox', async () =>
  withSandbox(async (id) => {
    const body = '<h1>from the sandbox</h1><script>try { top.document.title = 1 } catch {}</script>';
    const serve = `(_, r) => r.setHeader('content-type', 'text/html').end(${JSON.stringify(body)})`;
    const script = `require('http').createServer(${serve}).listen(8080)`;
    const events = (await agentOf(id)).start({ cmd: 'node', args: ['-e', script] });
    await events.next();
    const page = await logIn(`#/${id}/ports`);
    await page.getByRole('spinbutton', { name: 'Port' }).fill('8080');
    const heading = page.frameLocator('.preview').getByRole('heading');
    const show = async (): Promise<string | null> => {
      await page.getByRole('button', { name: 'Show' }).click();
      return heading.textContent({ timeout: 1_000 }).catch(() => null);
    };
    await expect.poll(show, { timeout: 20_000 }).toBe('from the sandbox');
    await look(page, 'preview');
    expect(await page.title()).toBe('Coldframe');
    await events.return(undefined);
  }),
);

browserTest.for([
  ['wide', { viewport: WIDE, colorScheme: 'light' }],
  ['dark', { viewport: WIDE, colorScheme: 'dark' }],
  ['narrow', { viewport: NARROW, colorScheme: 'light' }],
  ['narrow dark', { viewport: NARROW, colorScheme: 'dark' }],
] as const)('no part of the page is wider than a %s window', async ([name, options]) =>
  withSandbox(
    async (id) => {
      const agent = await agentOf(id);
      await agent.write('/home/user/a-file-with-a-quite-long-name-that-could-widen-the-table.txt', new TextEncoder().encode('x'));
      await client.snapshot(id);
      const page = await logIn('', options);
      for (const address of [
        '#/',
        ...['overview', 'files', 'terminal', 'logs', 'snapshots', 'ports'].map((tab) => `#/${id}/${tab}`),
      ]) {
        await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
        await page.waitForTimeout(300);
        const { width, needed } = await page.evaluate<{ width: number; needed: number }>(WIDTHS);
        expect([address, needed]).toEqual([address, width]);
        await look(page, `${name.replace(' ', '-')}-${address.split('/')[2] ?? 'list'}`);
      }
    },
    { name: 'a sandbox with a long name', owner: 'someone-with-a-long-name' },
  ),
);
