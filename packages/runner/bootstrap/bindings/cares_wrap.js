// What: name resolution (cares_wrap.cc). There is no network yet: a resolver can be made, as `node:dns` makes one while it loads, and asking it throws.
'use strict';

module.exports = function caresWrap(binding) {
  const { prototype } = binding.ChannelWrap;
  binding.ChannelWrap = class ChannelWrap {};
  Object.setPrototypeOf(binding.ChannelWrap.prototype, prototype);
  for (const name of ['GetAddrInfoReqWrap', 'GetNameInfoReqWrap', 'QueryReqWrap']) {
    binding[name] = { [name]: class {} }[name];
  }
};
