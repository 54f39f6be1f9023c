// The data behind `Blob` (node_blob.cc): a list of parts, which are bytes in the guest's memory or
// files. With parts, a file is read only when the Blob is read, and a slice of a Blob copies
// nothing. Next: ../fs/file-part.js.
'use strict';

const { FilePart } = require('../fs/file-part.js');

// The values that a reader reports to its callback, from Node's bob.h.
const STATUS_END = 0;
const STATUS_CONTINUE = 1;

module.exports = function blob(binding) {
  const stored = new Map();
  binding.createBlob = (sources, length) => new BlobHandle(partsOf(sources, length));
  binding.concat = (parts) => {
    const views = parts.map(bytesOf);
    return joined(
      views,
      views.reduce((sum, view) => sum + view.length, 0),
    ).buffer;
  };
  binding.storeDataObject = (id, handle, length, type) => {
    stored.set(id, [handle, length, type]);
  };
  binding.getDataObject = (id) => stored.get(id);
  binding.revokeObjectURL = (url) => {
    stored.delete(/^blob:nodedata:(.*)$/.exec(url)?.[1]);
  };
  // Returns the handle and the length of the file. Throws if the file's size and time cannot be
  // read.
  binding.createBlobFromFilePath = (path) => {
    const part = FilePart.of(path);
    if (typeof part === 'number') throw unableToOpen();
    return [new BlobHandle([part]), part.length];
  };
};

function unableToOpen() {
  const error = new TypeError('Unable to open file as blob');
  error.code = 'ERR_INVALID_ARG_VALUE';
  return error;
}

class Bytes {
  #view;
  constructor(view) {
    this.#view = view;
  }
  get length() {
    return this.#view.length;
  }
  get view() {
    return this.#view;
  }
  slice(start, end) {
    return new Bytes(this.#view.subarray(start, end));
  }
  read(at) {
    return this.#view.slice(at);
  }
}

class BlobHandle {
  #parts;
  constructor(parts) {
    this.#parts = parts;
  }
  get parts() {
    return this.#parts;
  }
  slice(start, end) {
    const parts = [];
    let begin = 0;
    for (const part of this.#parts) {
      const from = Math.max(start - begin, 0);
      const to = Math.min(end - begin, part.length);
      if (from < to) parts.push(part.slice(from, to));
      begin += part.length;
    }
    return new BlobHandle(parts);
  }
  getReader() {
    const parts = this.#parts;
    let index = 0;
    let at = 0;
    const next = () => {
      while (index < parts.length) {
        const bytes = parts[index].read(at);
        if (typeof bytes === 'number') return bytes;
        at += bytes.length;
        if (bytes.length > 0) return bytes;
        index++;
        at = 0;
      }
      return undefined;
    };
    return {
      // Does nothing, because a read of a part never waits.
      setWakeup() {},
      pull(callback) {
        native.enqueueTask(() => {
          const bytes = next();
          if (bytes === undefined) callback(STATUS_END, undefined);
          else if (typeof bytes === 'number') callback(bytes, undefined);
          else callback(STATUS_CONTINUE, bytes.buffer.byteLength === bytes.length ? bytes.buffer : bytes.slice().buffer);
        });
      },
    };
  }
}

// Returns the parts of a Blob. Merges all bytes into one part if no part is a file.
function partsOf(sources, length) {
  const parts = sources.flatMap((source) => {
    const last = Array.isArray(source) ? source[source.length - 1] : source;
    return last instanceof BlobHandle ? last.parts : [new Bytes(bytesOf(last))];
  });
  if (parts.some((part) => part instanceof FilePart)) return parts;
  return [
    new Bytes(
      joined(
        parts.map((part) => part.view),
        length,
      ),
    ),
  ];
}

function bytesOf(source) {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return new Uint8Array(source);
}

function joined(views, length) {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const view of views) {
    bytes.set(view, at);
    at += view.length;
  }
  return bytes;
}
