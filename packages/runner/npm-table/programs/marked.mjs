// marked: Markdown with tables, code and a custom renderer.

import { Marked } from 'marked';

const source = `# Title *one*

- [x] done
- [ ] open
  1. nested

| a | b |
|---|:-:|
| 1 | \`2\` |

> quote <b>html</b>

\`\`\`js
let x = 1 < 2;
\`\`\`

[link](http://a.b "t") ![image](i.png) ~~gone~~ https://auto.link
`;
console.log(new Marked().parse(source));
const own = new Marked({ renderer: { heading: ({ depth, text }) => `<h${depth} id="${text.length}">${text}</h${depth}>` } });
console.log(own.parse('## Own *x*'), new Marked().lexer('a\n\nb').length);
