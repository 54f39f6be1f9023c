// Messages between processes with `serialization: 'advanced'`: a length, then a structured clone
// (node_ipc_serdes.cc). The format is that of `v8.Serializer`, because both ends are this guest and
// no other program reads the bytes. Next: ../serdes/writer.js.
'use strict';

const context = require('../context.js');

const LENGTH_SIZE = 4;
const VIEW = 0;
const OTHER = 1;

let classes;

function makeClasses() {
  const { DefaultDeserializer, DefaultSerializer } = context.requireBuiltin('v8');
  class MessageSerializer extends DefaultSerializer {
    _writeHostObject(object) {
      this.writeUint32(ArrayBuffer.isView(object) ? VIEW : OTHER);
      if (ArrayBuffer.isView(object)) super._writeHostObject(object);
      // Objects of bindings arrive as plain objects.
      else this.writeValue({ ...object });
    }
  }
  class MessageDeserializer extends DefaultDeserializer {
    _readHostObject() {
      return this.readUint32() === VIEW ? super._readHostObject() : this.readValue();
    }
  }
  classes = { MessageSerializer, MessageDeserializer };
}

module.exports = function ipcSerdes(binding) {
  binding.serialize = (message) => {
    if (classes === undefined) makeClasses();
    const { Buffer } = context.requireBuiltin('buffer');
    const serializer = new classes.MessageSerializer();
    serializer.writeHeader();
    serializer.writeValue(message);
    const bytes = serializer.releaseBuffer();
    const framed = Buffer.allocUnsafe(LENGTH_SIZE + bytes.byteLength);
    framed.writeUInt32BE(bytes.byteLength);
    framed.set(bytes, LENGTH_SIZE);
    return framed;
  };
  binding.deserialize = (bytes) => {
    if (classes === undefined) makeClasses();
    const deserializer = new classes.MessageDeserializer(bytes);
    deserializer.readHeader();
    return deserializer.readValue();
  };
};
