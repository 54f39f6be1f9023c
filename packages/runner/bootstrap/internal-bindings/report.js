// Diagnostic reports. Only the question on the fatal path is answered (node_report_module.cc).
'use strict';

module.exports = function report(binding) {
  binding.shouldReportOnUncaughtException = () => false;
  binding.setReportOnUncaughtException = () => {};
};
