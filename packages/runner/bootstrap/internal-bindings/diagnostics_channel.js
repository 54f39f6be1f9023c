// What: channels that Node's C++ publishes to. Ours publishes to none.
'use strict';

module.exports = function diagnosticsChannel(binding) {
  binding.linkNativeChannel = () => {};
};
