// Reads what the repository's tests need out of Markdown: fenced blocks, links, headings.

const FENCE = /^(`{3,})([^\n]*)\n([\s\S]*?)^\1[ \t]*$/gm;

/** Fenced blocks in order: `{ language, flags, text }`; ` ```ts run ` gives language `ts` and flags `['run']`. */
export function fencedBlocks(markdown) {
  return [...markdown.matchAll(FENCE)].map(([, , info, text]) => {
    const [language = '', ...flags] = info.trim().split(/\s+/);
    return { language, flags, text };
  });
}

const withoutCode = (markdown) => markdown.replace(FENCE, '').replace(/`[^`\n]*`/g, '');

/** Targets of all links. */
export function links(markdown) {
  return [...withoutCode(markdown).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target);
}

/** The anchors that GitHub gives to headings. */
export function anchors(markdown) {
  return [...markdown.replace(FENCE, '').matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
    heading
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}
