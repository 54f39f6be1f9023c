// Command line options (node_options.cc): the defaults that the real Node printed, without the
// features that this guest lacks. A process with options has values of its own
// (../program/options.js).
'use strict';

const context = require('../context.js');
const { recorded } = require('./shapes.js');

const OVERRIDES = {
  // The build ran the real Node without warnings, but programs run with warnings.
  '--warnings': true,
  '--no-warnings': false,
  '--deprecation': true,
  '--no-deprecation': false,
  '--expose-internals': false,
  '--inspect-brk': false,
  '--experimental-webstorage': false,
  '--webstorage': false,
  '--input-type': 'module',
};

module.exports = function options(binding) {
  const values = Object.assign(recorded('__options'), OVERRIDES);
  // A process with options has values of its own (../program/options.js).
  binding.getCLIOptionsValues = () => context.cliOptions ?? values;
  const info = recorded('__optionsInfo');
  binding.getCLIOptionsInfo = () => {
    const [facts, aliases] = JSON.parse(info);
    const about = ([name, envVarSettings, type, defaultIsTrue]) => [
      name,
      { __proto__: null, envVarSettings, type, defaultIsTrue: defaultIsTrue === 1 },
    ];
    return { options: new Map(facts.map(about)), aliases: new Map(aliases) };
  };
  binding.getOptionsAsFlags = () => [];
  binding.getEnvOptionsInputType = () => new Map();
  binding.getNamespaceOptionsInputType = () => new Map();
  binding.getEmbedderOptions = () => ({
    shouldNotRegisterESMLoader: false,
    noGlobalSearchPaths: false,
    noBrowserGlobals: false,
    hasEmbedderPreload: false,
  });
};
