// highlight.js: highlighting by name and by guess.

import hljs from 'highlight.js';

console.log(hljs.highlight('const x = `a ${1 + "b"}`; // note', { language: 'javascript' }).value);
console.log(hljs.highlight("SELECT a, COUNT(*) FROM t WHERE b = 'x' GROUP BY a;", { language: 'sql' }).value);
console.log(
  hljs.highlight('fn main() -> Result<(), Box<dyn Error>> { println!("{}", 1u8); Ok(()) }', { language: 'rust' }).value,
);
const guess = hljs.highlightAuto('def f(x):\n    # doc\n    return [y for y in x if y]', ['python', 'ruby', 'css']);
console.log(guess.language, guess.relevance, hljs.listLanguages().length > 150);
