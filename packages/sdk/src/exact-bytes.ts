// Bytes of a guest that are nearly always text: output of a program, the body of a response. The
// results have the text. Bytes that are not UTF-8 are kept beside the text.

/**
 * Returns a copy of `bytes` if encoding `text`, their decoded form, does not restore the bytes.
 * Otherwise returns `undefined`. The copy has a buffer of its own, because `structuredClone()`
 * copies the whole buffer of a view.
 */
export function bytesBeyond(text: string, bytes: Uint8Array): Buffer | undefined {
  if (!text.includes('\ufffd') || Buffer.from(text, 'utf8').equals(bytes)) return undefined;
  return Buffer.from(new Uint8Array(bytes).buffer);
}

/** Returns the field of a JSON form with the bytes in base64, or no field without `bytes`. */
export function base64Field(name: string, bytes: Uint8Array | undefined): Record<string, string> {
  if (bytes === undefined) return {};
  return { [name]: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64') };
}
