// What: Node's own start-up snapshot (node_snapshotable.cc). Our image is taken below it; to Node's scripts no snapshot is being built,
// except where boot.js says so for a moment (process.argv0 must stay configurable).
'use strict';

module.exports = function mksnapshot(binding) {
  binding.setSerializeCallback = () => {};
  binding.setDeserializeCallback = () => {};
  binding.setDeserializeMainFunction = () => {};
};
