// The error that a service throws to report the reason of a failure to the guest.

/** A failure whose code and message may reach the guest's kernel. */
export class HostError extends Error {
  /** The name of a Linux error number, which system calls return. Any other code becomes `EIO`. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}
