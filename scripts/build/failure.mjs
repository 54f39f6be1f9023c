// A failure with a message that a user can act on. Commands print the message without a stack.

export class BuildFailure extends Error {
  name = 'BuildFailure';
}
