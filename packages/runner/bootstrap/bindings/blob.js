// What: the bytes behind `Blob` (node_blob.cc). They lie in the guest's memory; files as blobs come with the filesystem.
'use strict';

const { unavailableError } = require('../unavailable.js');

// Node's bob.h: what a reader reports to its callback.
const STATUS_END = 0;
const STATUS_CONTINUE = 1;

module.exports = function blob(binding) {
  const stored = new Map();
  binding.createBlob = (sources, length) => new BlobHandle(joined(sources.map(bytesOf), length));
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
  binding.createBlobFromFilePath = () => {
    throw unavailableError('fs.openAsBlob');
  };
};

class BlobHandle {
  #bytes;
  constructor(bytes) {
    this.#bytes = bytes;
  }
  get bytes() {
    return this.#bytes;
  }
  slice(start, end) {
    return new BlobHandle(this.#bytes.subarray(start, end));
  }
  getReader() {
    let rest = this.#bytes;
    return {
      // Nothing in memory ever has to be waited for.
      setWakeup() {},
      pull(callback) {
        const bytes = rest;
        rest = rest.subarray(rest.length);
        native.enqueueTask(() => {
          if (bytes.length === 0) callback(STATUS_END, undefined);
          else callback(STATUS_CONTINUE, bytes.slice().buffer);
        });
      },
    };
  }
}

function bytesOf(source) {
  if (source instanceof BlobHandle) return source.bytes;
  if (Array.isArray(source)) return bytesOf(source[source.length - 1]);
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
