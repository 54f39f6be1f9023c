// A model of the AI SDK that replies with the messages of a script in order. Each message is a tool
// call or a text. Mastra uses models of the AI SDK too.

import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

const toolCall = ({ id, code, input = { code } }) => ({
  type: 'tool-call',
  toolCallId: id,
  toolName: 'run_javascript',
  input: JSON.stringify(input),
});

const finishOf = (entry) => ({ unified: typeof entry === 'string' ? 'stop' : 'tool-calls', raw: undefined });

const contentOf = (entry) => (typeof entry === 'string' ? { type: 'text', text: entry } : toolCall(entry));

const partsOf = (entry) =>
  typeof entry === 'string'
    ? [
        { type: 'text-start', id: '1' },
        { type: 'text-delta', id: '1', delta: entry },
        { type: 'text-end', id: '1' },
      ]
    : [toolCall(entry)];

export function scriptedModel(script) {
  const left = [...script];
  const next = () => {
    if (left.length === 0) throw new Error('the script of the mock model has no further message');
    return left.shift();
  };
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const entry = next();
      return { content: [contentOf(entry)], finishReason: finishOf(entry), usage, warnings: [] };
    },
    doStream: async () => {
      const entry = next();
      const chunks = [
        { type: 'stream-start', warnings: [] },
        ...partsOf(entry),
        { type: 'finish', finishReason: finishOf(entry), usage },
      ];
      return { stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }) };
    },
  });
}

/** Returns the calls of a mock model, which is called either for a stream or for a whole reply. */
export const callsOf = (model) => [...model.doGenerateCalls, ...model.doStreamCalls];

/** Returns the results of tools in the prompt of the model's last call, by the id of the call. */
export function resultsOf(model) {
  const parts = callsOf(model)
    .at(-1)
    .prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
  return Object.fromEntries(parts.map(({ toolCallId, output }) => [toolCallId, output]));
}
