// What: Node's own permission model, which is off. Ours is enforced by the kernel, at the system call.
'use strict';

module.exports = function permission(binding) {
  binding.has = () => true;
};
