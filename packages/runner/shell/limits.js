// just-bash's own limits, which protect an app that runs just-bash in its own process. The runtime
// has its own limits (memory, time, files, processes), so just-bash's limits are as high as
// possible. The limits of recursion stay, because their error messages are clearer than the
// engine's messages. Next: index.js.

const NAMES = `SourceBytes CommandCount LoopIterations AwkIterations SedIterations JqIterations QueryTokens QueryElements
  AwkParserTokens AwkParserOperations CsvRows CsvCells WorkUnits TraversalEntries TraversalWork LiveBytes
  InputBytes FileSystemBytes ArchiveBytes ArchiveCompressedBytes ArchiveEntryBytes ArchiveEntries
  WorkerMessageBytes GlobOperations StringLength ArrayElements HeredocSize BraceExpansionResults OutputSize
  FileDescriptors`;
const HIGHEST = 2 ** 31 - 1;

export const executionLimits = {
  ...Object.fromEntries(NAMES.split(/\s+/).map((name) => [`max${name}`, HIGHEST])),
  maxExecutionTimeMs: HIGHEST,
  maxCallDepth: 500,
};
