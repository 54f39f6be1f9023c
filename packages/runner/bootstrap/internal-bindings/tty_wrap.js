// Terminals. No descriptor of a sandbox is a terminal.
'use strict';

module.exports = function ttyWrap(binding) {
  binding.isTTY = () => false;
};
