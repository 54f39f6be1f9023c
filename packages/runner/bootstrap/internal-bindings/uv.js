// What: libuv's error names and messages. The table is the one that the real Node printed (shape `__errorMap`).
// Next: ../errno.js, which makes Node's exceptions out of it.
'use strict';

const { errorMap, nameOf, messageOf } = require('../errors/errno.js');

module.exports = function uv(binding) {
  binding.errname = nameOf;
  binding.getErrorMap = () => new Map(errorMap);
  binding.getErrorMessage = messageOf;
};
