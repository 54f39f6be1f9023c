// What a service says to the guest when it has no answer. Its own module, so that services and the desk agree on the class.

/** A failure whose code and message the guest's kernel may know. */
export class HostError extends Error {
  /** The name of a Linux error number: system calls show it. Any other code is `EIO` to them. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
