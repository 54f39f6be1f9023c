// The features of this build of Node (node_config.cc), which lacks some features of the real Node:
// a sandbox has no inspector. `hasIntl` stays true: Node's library then uses the `icu` binding,
// which this guest implements, instead of refusing encodings.
'use strict';

module.exports = function config(binding) {
  binding.hasInspector = false;
  binding.getDefaultLocale = () => 'en-US';
};
