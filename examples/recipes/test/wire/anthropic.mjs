// Messages of Anthropic's Messages API, as the service sends the messages. The types of the
// official client check the format.

export const MODEL = 'claude-opus-5-5';

/**
 * Returns a message of the model.
 * @param {import('@anthropic-ai/sdk').Anthropic.StopReason} stop_reason
 * @param {import('@anthropic-ai/sdk').Anthropic.ContentBlock[]} content
 * @returns {import('@anthropic-ai/sdk').Anthropic.Message}
 */
export const message = (stop_reason, ...content) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: MODEL,
  container: null,
  diagnostics: null,
  content,
  stop_reason,
  stop_details: null,
  stop_sequence: null,
  usage: {
    input_tokens: 1,
    output_tokens: 1,
    cache_creation: null,
    cache_creation_input_tokens: null,
    cache_read_input_tokens: null,
    inference_geo: null,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  },
});

/**
 * Returns a call of the tool. The input is any value, as a model can send another type.
 * @param {string} id
 * @param {unknown} input
 * @returns {import('@anthropic-ai/sdk').Anthropic.ToolUseBlock}
 */
export const toolUse = (id, input) => ({ type: 'tool_use', id, name: 'run_javascript', input, caller: { type: 'direct' } });

/**
 * Returns a text of the model.
 * @param {string} words
 * @returns {import('@anthropic-ai/sdk').Anthropic.TextBlock}
 */
export const text = (words) => ({ type: 'text', text: words, citations: null });
