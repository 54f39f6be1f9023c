// Messages of OpenAI's Responses API, as the service sends the messages. The types of the official
// client check the format.

/** @typedef {import('openai').OpenAI.Responses.ResponseOutputItem} ResponseOutputItem */

export const MODEL = 'gpt-6-sol';

/**
 * Returns a completed response. The client adds the field `output_text`.
 * @param {ResponseOutputItem[]} output
 * @returns {Omit<import('openai').OpenAI.Responses.Response, 'output_text'>}
 */
export const response = (...output) => ({
  id: 'resp_1',
  object: 'response',
  access_programs: null,
  created_at: 1_700_000_000,
  status: 'completed',
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  model: MODEL,
  output,
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
});

/**
 * Returns a call of the tool. The arguments are any text, as a model can send malformed JSON.
 * @param {string} id
 * @param {string} json
 * @returns {import('openai').OpenAI.Responses.ResponseFunctionToolCall}
 */
export const functionCall = (id, json) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'run_javascript',
  arguments: json,
  status: 'completed',
});

/**
 * Returns a message of the model.
 * @param {string} text
 * @returns {import('openai').OpenAI.Responses.ResponseOutputMessage}
 */
export const message = (text) => ({
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});
