// `pnpm docs:build`: builds the documentation site to .build/site, and checks the built pages.
// VitePress fails for a link to a missing page. check-pages.mjs finds every other dead link.
//
// `--check` builds the pages without the scripts of the browser, in half the time, for `pnpm
// check`.

import { BuildFailure } from '../../scripts/build/failure.mjs';
import { fromRoot } from '../../scripts/build/paths.mjs';
import { run } from '../../scripts/build/run.mjs';
import { runMain } from '../../scripts/build.mjs';
import { checkPages } from './check-pages.mjs';

const vitepress = fromRoot('packages/site/node_modules/vitepress/bin/vitepress.js');

/** Builds the site to the folder `output`, which a server serves below the path `base`. */
async function buildSite(output, base, scripts) {
  const env = { NO_COLOR: '1', DOCS_OUTPUT: output, DOCS_BASE: base, DOCS_SCRIPTS: scripts };
  await run(process.execPath, [vitepress, 'build', 'packages/site'], { env });
}

await runMain(async () => {
  const onlyCheck = process.argv.includes('--check');
  const output = fromRoot(onlyCheck ? '.build/site-check' : '.build/site');
  const base = process.env.DOCS_BASE ?? '/';
  await buildSite(output, base, onlyCheck ? 'none' : 'all');
  const { pages, links, mistakes } = checkPages(output, { base, sources: fromRoot('docs') });
  if (mistakes.length > 0) throw new BuildFailure(`the documentation site has mistakes:\n${mistakes.join('\n')}`);
  process.stdout.write(`${pages} pages and ${links} links are correct\n`);
});
