// Reads fenced blocks, links and headings from Markdown, for the repository's tests.

const FENCE = /^(`{3,})([^\n]*)\n([\s\S]*?)^\1[ \t]*$/gm;

/**
 * Returns the fenced blocks in order: `{ language, flags, text }`. The block of ` ```js run ` has
 * the language `js` and the flags `['run']`.
 */
export function fencedBlocks(markdown) {
  return [...markdown.matchAll(FENCE)].map(([, , info, text]) => {
    const [language = '', ...flags] = info.trim().split(/\s+/);
    return { language, flags, text };
  });
}

const withoutCode = (markdown) => markdown.replace(FENCE, '').replace(/`[^`\n]*`/g, '');

/** Returns the targets of all links. */
export function links(markdown) {
  return [...withoutCode(markdown).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target);
}

/** Returns the anchor that GitHub makes for the first heading with this text. */
export const slug = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

/** Returns the anchors that GitHub makes for headings, and the ids of `<a id="...">`. */
export function anchors(markdown) {
  const text = markdown.replace(FENCE, '');
  const ids = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
  const headings = [...text.matchAll(/^#+ +(.+)$/gm)].map(([, heading]) => slug(heading));
  return [...headings, ...ids];
}
