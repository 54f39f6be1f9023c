// The inspector, which a sandbox does not have. Node's library calls `isEnabled`.
'use strict';

module.exports = function inspector(binding) {
  binding.isEnabled = () => false;
  binding.setConsoleExtensionInstaller = () => {};
  binding.consoleCall = undefined;
  binding.console = undefined;
};
