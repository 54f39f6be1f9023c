// One call of a binding: its input is read and checked, the handler runs when it is its turn and in its time, and whatever comes of it is one
// answer: `=` and the result, or `!` and the error, as JSON. Next: `registry.ts`, which bindings there are.

import type { HostRequest } from '../host-calls/dispatcher.js';
import type { Binding } from './binding.js';
import { BindingFailure, failureOf } from './failure.js';
import { encodeFailure, encodeResult, parseInput } from './json.js';

/** Never rejects. */
export async function answer(binding: Binding, request: HostRequest): Promise<Uint8Array> {
  const { name, timeoutMs } = binding;
  let end = (_: unknown): void => {};
  const over = new Promise<never>((_, reject) => {
    end = reject;
  });
  const timer = setTimeout(() => {
    const message = `The binding '${name}' has not answered within ${timeoutMs} ms`;
    end(new BindingFailure('ERR_BINDING_TIMEOUT', message, { timeoutMs }));
    request.abort(new DOMException(message, 'TimeoutError'));
  }, timeoutMs).unref();
  // The desk has answered; this only lets go of what is left.
  request.onAbandoned(() => end(new BindingFailure('ERR_BINDING_FAILED', `Nobody waits for the binding '${name}' any more`)));
  try {
    return await Promise.race([carryOut(binding, request, over), over]);
  } catch (error) {
    return encodeFailure(failureOf(error));
  } finally {
    clearTimeout(timer);
  }
}

async function carryOut(binding: Binding, request: HostRequest, over: Promise<never>): Promise<Uint8Array> {
  const { name, gate, handler, validate, maxOutputBytes } = binding;
  const checked = validate(parseInput(name, request.input), request.input.length);
  const input = checked instanceof Promise ? await checked : checked;
  const place = gate.enter();
  if (place !== undefined) {
    try {
      await Promise.race([place.turn, over]);
    } catch (error) {
      place.giveUp();
      throw error;
    }
  }
  try {
    const { pid } = request;
    const context = {
      pid,
      get signal() {
        return request.signal;
      },
    };
    return encodeResult(name, await handler(input, context), maxOutputBytes);
  } finally {
    gate.leave();
  }
}
