// The features of this build of Node (node_config.cc), which lacks some of the real Node's: a
// sandbox has no inspector. `hasIntl` stays true: Node's library then asks the `icu` binding, which
// this guest implements, instead of refusing encodings.
'use strict';

module.exports = function config(binding) {
  binding.hasInspector = false;
  binding.getDefaultLocale = () => 'en-US';
};
