// `pnpm docs:look`: opens pages of the built site in Chromium, in a narrow and a wide window, light
// and dark. Writes screenshots to .build/site-screenshots, and fails for a page that looks wrong.
// `--built` opens the site that an earlier command built.
//
// Chromium is a download of 66 MB, so the browser is no dependency of the workspace. The first call
// installs the browser to .build/browser. checks.mjs has the checks of a page.

import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BuildFailure } from '../../../scripts/build/failure.mjs';
import { fromRoot } from '../../../scripts/build/paths.mjs';
import { run } from '../../../scripts/build/run.mjs';
import { runMain } from '../../../scripts/build.mjs';
import { checkPage, checkSearch, PAGES, WINDOWS } from './checks.mjs';
import { serve } from './serve.mjs';

const BROWSER = { '@sparticuz/chromium': '153.0.0', 'playwright-core': '1.65.1' };

const browserFolder = fromRoot('.build/browser');
const screenshots = fromRoot('.build/site-screenshots');

async function installBrowser() {
  mkdirSync(browserFolder, { recursive: true });
  writeFileSync(join(browserFolder, 'package.json'), JSON.stringify({ private: true, dependencies: BROWSER }));
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
  await run('npm', ['install', '--prefix', browserFolder, ...quiet]);
}

async function launch() {
  const require = createRequire(join(browserFolder, 'package.json'));
  const { chromium } = require('playwright-core');
  const { default: binary } = await import(pathToFileURL(require.resolve('@sparticuz/chromium')).href);
  // `binary.args` has `--single-process`, and such a browser ends with its first context.
  const args = binary.args.filter((arg) => !['--single-process', '--no-zygote'].includes(arg));
  return await chromium.launch({ executablePath: await binary.executablePath(), args, headless: true });
}

async function look(browser, url) {
  const mistakes = [];
  for (const [name, window] of Object.entries(WINDOWS)) {
    const context = await browser.newContext(window);
    for (const path of PAGES) {
      const page = await context.newPage();
      page.on('pageerror', (error) => mistakes.push(`${path}: ${error.message}`));
      await page.goto(url + path);
      const file = `${path.replace(/\.html$/, '').replaceAll('/', '-') || 'index'}-${name}.png`;
      await page.screenshot({ path: join(screenshots, file) });
      mistakes.push(...(await checkPage(page, window)).map((mistake) => `${path} (${name}): ${mistake}`));
      await page.close();
    }
    mistakes.push(
      ...(await checkSearch(context, url, join(screenshots, `search-${name}.png`))).map((m) => `search (${name}): ${m}`),
    );
    await context.close();
  }
  return mistakes;
}

await runMain(async () => {
  if (!process.argv.includes('--built')) await run(process.execPath, ['packages/site/build.mjs']);
  await installBrowser();
  mkdirSync(screenshots, { recursive: true });
  const browser = await launch();
  const server = await serve(fromRoot('.build/site'));
  try {
    const mistakes = await look(browser, server.url);
    if (mistakes.length > 0) throw new BuildFailure(`pages look wrong:\n${mistakes.join('\n')}`);
    process.stdout.write(`${PAGES.length} pages in ${Object.keys(WINDOWS).length} windows: see ${screenshots}\n`);
  } finally {
    await browser.close();
    await server.close();
  }
});
