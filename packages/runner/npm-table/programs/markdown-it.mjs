// markdown-it: Markdown with a custom rule.

import MarkdownIt from 'markdown-it';

const md = new MarkdownIt({ html: false, linkify: true, typographer: true });
console.log(
  md.render(
    '# Title\n\n"Quoted" -- text... (c) www.example.org <b>no</b>\n\n1. a\n   - b\n\n| x | y |\n|:--|--:|\n| 1 | ~~2~~ |\n\n```js\nlet a < b\n```\n',
  ),
);
md.core.ruler.push('shout', (state) => {
  for (const token of state.tokens)
    for (const child of token.children ?? []) if (child.type === 'text') child.content = child.content.toUpperCase();
});
console.log(
  md.renderInline('*loud* `code` [link](http://a.b "t")'),
  md
    .parse('a\n\nb', {})
    .map((token) => token.type)
    .join(),
);
