// The binding of the HTTP parser (node_http_parser.cc). Next: ../http/parser.js and
// ../http/connections.js.
'use strict';

const { HTTPParser } = require('../http/parser.js');
const { ConnectionsList } = require('../http/connections.js');

module.exports = function httpParser(binding) {
  // The skeleton's class, whose constants our class copies.
  const { HTTPParser: Shape } = binding;
  for (const name of Object.getOwnPropertyNames(Shape))
    if (typeof Shape[name] === 'number' && name !== 'length') HTTPParser[name] = Shape[name];
  binding.HTTPParser = HTTPParser;
  binding.ConnectionsList = ConnectionsList;
};
