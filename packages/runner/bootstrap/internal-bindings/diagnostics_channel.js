// The channels that Node's C++ publishes to. This guest publishes to no channel.
'use strict';

module.exports = function diagnosticsChannel(binding) {
  binding.linkNativeChannel = () => {};
};
