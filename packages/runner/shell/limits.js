// What: just-bash's own limits, which guard a host that runs it in its own process. Here the box has its limits (memory, time, files, processes), so
// these are as high as they go; what bounds recursion stays, since an error is better there than the engine's.
// Next: index.js.

const NAMES = `SourceBytes CommandCount LoopIterations AwkIterations SedIterations JqIterations QueryTokens QueryElements AwkParserTokens
  AwkParserOperations CsvRows CsvCells WorkUnits TraversalEntries TraversalWork LiveBytes InputBytes FileSystemBytes ArchiveBytes
  ArchiveCompressedBytes ArchiveEntryBytes ArchiveEntries WorkerMessageBytes GlobOperations StringLength ArrayElements HeredocSize
  BraceExpansionResults OutputSize FileDescriptors`;
const HIGHEST = 2 ** 31 - 1;

export const executionLimits = {
  ...Object.fromEntries(NAMES.split(/\s+/).map((name) => [`max${name}`, HIGHEST])),
  maxExecutionTimeMs: HIGHEST,
  maxCallDepth: 500,
};
