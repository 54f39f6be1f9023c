// Node's own start-up snapshot (node_snapshotable.cc). Our image contains the whole memory, so
// Node's scripts use no start-up snapshot. In one step of ../start-up/boot.js a flag of this
// binding states that a start-up snapshot is being built, so that process.argv0 stays configurable.
'use strict';

module.exports = function mksnapshot(binding) {
  binding.setSerializeCallback = () => {};
  binding.setDeserializeCallback = () => {};
  binding.setDeserializeMainFunction = () => {};
};
