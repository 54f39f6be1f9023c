// The configuration of VitePress. The pages are the files of docs/, which people also read on
// GitHub: repository-links.mjs converts their links. Next: pages.mjs, the order of the pages.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { slug } from '../../../scripts/test/markdown.mjs';
import { navigation, routeOf, sidebar } from './pages.mjs';
import { BRANCH, convertLinks, REPOSITORY } from './repository-links.mjs';

const fromRoot = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0f766e"/>
<path d="M6 24V12l20-5v17zM16 9.500V24M6 18h20" fill="none" stroke="#fff" stroke-width="2.200" stroke-linejoin="round"/></svg>`;

export default defineConfig({
  title: 'Coldframe',
  description: 'A TypeScript library that runs untrusted Node.js code in WebAssembly sandboxes.',
  lang: 'en-GB',
  base: process.env.DOCS_BASE ?? '/',
  srcDir: fromRoot('docs'),
  outDir: process.env.DOCS_OUTPUT ?? fromRoot('.build/site'), // build.mjs sets the variables
  cacheDir: fromRoot('.build/site-cache'),
  rewrites: routeOf,
  cleanUrls: false,
  metaChunk: true,
  // The check of the pages needs no script of the browser, and takes half the time without scripts.
  mpa: process.env.DOCS_SCRIPTS === 'none',
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  // Headings have the anchors of GitHub, so that one link works in both places.
  markdown: { anchor: { slugify: slug }, config: convertLinks },
  themeConfig: {
    nav: navigation,
    sidebar,
    outline: [2, 3],
    search: { provider: 'local', options: { detailedView: true } },
    socialLinks: [{ icon: 'github', link: REPOSITORY, ariaLabel: 'GitHub' }],
    editLink: { pattern: `${REPOSITORY}/edit/${BRANCH}/docs/:path`, text: 'Edit this page on GitHub' },
    footer: { message: `Licence: <a href="${REPOSITORY}/blob/${BRANCH}/LICENSE">Apache-2.0</a>` },
  },
});
