// Converts the relative links of docs/ to links of the site. A link to a page leads to the page's
// route. A link to any other file of the repository leads to the file on GitHub.

import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { routeOf } from './pages.mjs';

export const REPOSITORY = 'https://github.com/coldframe/coldframe';
export const BRANCH = 'main';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns the link of the site for the link `href` in the file `page`, a path from the root. */
export function siteLink(page, href) {
  if (/^([a-z]+:|#|\/)/.test(href)) return href;
  const [path, anchor] = href.split('#');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  const file = normalize(join(dirname(page), path));
  if (!file.startsWith('docs/') || !file.endsWith('.md')) return `${REPOSITORY}/blob/${BRANCH}/${file}${hash}`;
  const from = dirname(routeOf(relative('docs', page)));
  const to = relative(from, routeOf(relative('docs', file)));
  return `${to.startsWith('.') ? to : `./${to}`}${hash}`;
}

/** Converts all links of each page, before VitePress checks and renders the links. */
export function convertLinks(md) {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const source = env.realPath ?? env.path;
    if (source === undefined) return; // VitePress parses only the title
    const page = relative(root, source);
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_open') token.attrSet('href', siteLink(page, token.attrGet('href') ?? ''));
    }
  });
}
