// Diagnostic reports. Only the check on the fatal path is implemented (node_report_module.cc).
'use strict';

module.exports = function report(binding) {
  binding.shouldReportOnUncaughtException = () => false;
  binding.setReportOnUncaughtException = () => {};
};
