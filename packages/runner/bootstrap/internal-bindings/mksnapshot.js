// Node's own start-up snapshot (node_snapshotable.cc). Our image contains the whole memory, so
// Node's scripts see no start-up snapshot. ../start-up/boot.js makes one exception, because
// process.argv0 must stay configurable.
'use strict';

module.exports = function mksnapshot(binding) {
  binding.setSerializeCallback = () => {};
  binding.setDeserializeCallback = () => {};
  binding.setDeserializeMainFunction = () => {};
};
