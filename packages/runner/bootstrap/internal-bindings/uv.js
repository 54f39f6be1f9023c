// libuv's error names and messages. The real Node printed the table (shape `__errorMap`). Next:
// ../errors/errno.js, which makes Node's exceptions from the table.
'use strict';

const { errorMap, nameOf, messageOf } = require('../errors/errno.js');

module.exports = function uv(binding) {
  binding.errname = nameOf;
  binding.getErrorMap = () => new Map(errorMap);
  binding.getErrorMessage = messageOf;
};
