// The inspector, which a sandbox does not have. Node asks whether the inspector is enabled.
'use strict';

module.exports = function inspector(binding) {
  binding.isEnabled = () => false;
  binding.setConsoleExtensionInstaller = () => {};
  binding.consoleCall = undefined;
  binding.console = undefined;
};
