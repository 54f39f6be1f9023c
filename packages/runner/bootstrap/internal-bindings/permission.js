// Node's own permission model, which is off. The kernel enforces our permissions, at the system
// call.
'use strict';

module.exports = function permission(binding) {
  binding.has = () => true;
};
