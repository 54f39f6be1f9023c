// postcss: parsing and changing style sheets.

import postcss from 'postcss';

const double = {
  postcssPlugin: 'double',
  Declaration: (node) => {
    if (!node.value.startsWith('calc') && node.prop === 'width') node.value = `calc(2 * ${node.value})`;
  },
};
const prefix = {
  postcssPlugin: 'prefix',
  Rule: (rule) => {
    if (!rule.selector.startsWith('.app')) rule.selector = `.app ${rule.selector}`;
  },
};
const css = 'a { width: 1px; /* note */ color: red }\n@media print { b::after { content: "x;y" } }';
const result = await postcss([double, prefix]).process(css, { from: 'in.css', to: 'out.css', map: { inline: false } });
console.log(result.css, JSON.parse(result.map.toString()).sources, result.messages);
const walked = [];
postcss.parse(css).walk((node) => walked.push(node.type));
console.log(walked.join());
try {
  postcss.parse('a { color: red; }}');
} catch (error) {
  console.log(error.name, error.reason, error.line, error.column);
}
