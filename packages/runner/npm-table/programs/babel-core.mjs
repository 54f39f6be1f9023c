// babel-core: a transform with a custom plugin, and a source map.

import { parseSync, types as t, transformAsync, traverse } from '@babel/core';

const plugin = () => ({
  visitor: {
    Identifier(path) {
      if (path.node.name === 'old') path.node.name = 'fresh';
    },
    BinaryExpression(path) {
      const { confident, value } = path.evaluate();
      if (confident) path.replaceWith(t.valueToNode(value));
    },
  },
});
const options = {
  plugins: [plugin],
  configFile: false,
  babelrc: false,
  sourceMaps: true,
  filename: 'in.js',
  browserslistConfigFile: false,
};
const { code, map } = await transformAsync('const old = 1 + 2 * 3;\nexport default (old) => `${old}` // kept', options);
console.log(code, map.sources);
const names = [];
traverse(parseSync('let { a, b: [c] } = d', { configFile: false, babelrc: false }), {
  Identifier: ({ node }) => void names.push(node.name),
});
console.log(names.join());
const failure = await transformAsync('let = ;', options).catch((error) => error);
console.log(failure.code, failure.reasonCode);
