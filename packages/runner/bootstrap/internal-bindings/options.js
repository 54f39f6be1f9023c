// What: command line options (node_options.cc): the defaults that the real Node printed, with what does not exist here turned off. A process that
// is given options has values of its own (../options.js).
'use strict';

const context = require('../context.js');
const { recorded } = require('./shapes.js');

const OVERRIDES = {
  // How the build asked the real Node, not how a program is run.
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
  // A process with options of its own has its own values (../options.js).
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
