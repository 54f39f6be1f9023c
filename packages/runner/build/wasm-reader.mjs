// Reads the sections, numbers and names of a WebAssembly module for `wasm-to-c.mjs`. The image
// builder (`packages/sidecar/crates/imager`) reads and checks the guest's own module with a
// library.

export class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  u8() {
    return this.bytes[this.at++];
  }

  /** Reads an unsigned LEB128 number. */
  leb() {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.u8();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  name() {
    const length = this.leb();
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString();
  }
}

/** Yields the id and the start of each section. */
export function* sections(wasm) {
  const reader = new Reader(wasm, 8);
  while (reader.at < wasm.length) {
    const id = reader.u8();
    const size = reader.leb();
    yield { id, start: reader.at };
    reader.at += size;
  }
}
