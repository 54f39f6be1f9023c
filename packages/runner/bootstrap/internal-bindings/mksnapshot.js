// Node's own start-up snapshot (node_snapshotable.cc). Our image is taken below that level, so
// Node's scripts see no snapshot. The exception is a part of ../start-up/boot.js, because
// process.argv0 must stay configurable.
'use strict';

module.exports = function mksnapshot(binding) {
  binding.setSerializeCallback = () => {};
  binding.setDeserializeCallback = () => {};
  binding.setDeserializeMainFunction = () => {};
};
