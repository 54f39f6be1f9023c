// A failure that the builder explains itself: the message is all that a reader needs, no stack is shown.

export class BuildFailure extends Error {
  name = 'BuildFailure';
}
