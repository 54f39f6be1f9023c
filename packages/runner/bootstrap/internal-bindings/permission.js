// Node's own permission model, which is off. The kernel checks the runtime's permissions at each
// system call.
'use strict';

module.exports = function permission(binding) {
  binding.has = () => true;
};
