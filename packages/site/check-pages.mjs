// Checks the pages of the built site. Every link has an existing page or file, and every anchor has
// an existing id. The sidebar has every page of docs/.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { Parser } from 'htmlparser2';
import { routeOf, sidebar } from './.vitepress/pages.mjs';

const ORIGIN = 'http://site';

const filesOf = (folder, extension) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll(sep, '/'));

/** Returns the ids and the links of an HTML page. */
function readPage(html) {
  const ids = new Set();
  const links = [];
  const parser = new Parser({
    onopentag(_, { id, href, src }) {
      if (id) ids.add(id);
      links.push(...[href, src].filter((link) => link !== undefined));
    },
  });
  parser.end(html);
  return { ids, links };
}

/** Returns the path of the file that a server of static files returns for the path of a URL. */
const fileFor = (path) => (path === '' || path.endsWith('/') ? `${path}index.html` : path);

/** Returns the pages of `sources` that the sidebar does not have. The landing page has no entry. */
function withoutEntry(sources) {
  const entries = sidebar.flatMap(({ items }) => items.map(({ link }) => link.replace(/\/$/, '/index').slice(1)));
  const routes = filesOf(sources, '.md').map((file) => routeOf(file).replace(/\.md$/, ''));
  return routes.filter((route) => route !== 'index' && !entries.includes(route));
}

/**
 * Checks the site in the folder `output`, which a server serves below the path `base`. Returns the
 * numbers of pages and links, and a line for each mistake.
 */
export function checkPages(output, { base = '/', sources }) {
  const pages = new Map(filesOf(output, '.html').map((path) => [path, readPage(readFileSync(join(output, path), 'utf8'))]));
  const reason = (page, link) => {
    const url = new URL(link, `${ORIGIN}${base}${page}`);
    if (url.origin !== ORIGIN) return undefined;
    if (!url.pathname.startsWith(base)) return `leads out of ${base}`;
    const file = fileFor(decodeURIComponent(url.pathname.slice(base.length)));
    if (!existsSync(join(output, file))) return 'has no target';
    const anchor = decodeURIComponent(url.hash.slice(1));
    return anchor && pages.has(file) && !pages.get(file).ids.has(anchor) ? 'has no anchor' : undefined;
  };
  const checked = [...pages].flatMap(([page, { links }]) => links.map((link) => ({ page, link, reason: reason(page, link) })));
  const wrong = checked.filter((link) => link.reason).map((link) => `${link.page}: ${link.link} ${link.reason}`);
  const missing = withoutEntry(sources).map((route) => `the sidebar does not have the page ${route}`);
  return { pages: pages.size, links: checked.length, mistakes: [...new Set([...wrong, ...missing])] };
}
