// What: what this build of Node "has" (node_config.cc). Fewer things than the real one: no inspector in a sandbox.
// `hasIntl` stays true: Node's library then asks the `icu` binding, which we answer, instead of refusing encodings.
'use strict';

module.exports = function config(binding) {
  binding.hasInspector = false;
  binding.getDefaultLocale = () => 'en-US';
};
