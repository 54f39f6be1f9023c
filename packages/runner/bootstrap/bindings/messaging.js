// What: message channels inside the one thread there is, and structuredClone (node_messaging.cc).
// Next: ../structured-clone.js; ../message-port.js.
'use strict';

const context = require('../context.js');
const { structuredClone, setDeserializer } = require('../structured-clone.js');
const { MessagePort, MessageChannel, drain, receive, stop } = require('../message-port.js');

module.exports = function messaging(binding) {
  binding.MessagePort = MessagePort;
  binding.MessageChannel = MessageChannel;
  binding.drainMessagePort = drain;
  binding.receiveMessageOnPort = receive;
  binding.stopMessagePort = stop;
  binding.checkMessagePort = (port) => port instanceof MessagePort;
  binding.setDeserializerCreateObjectFunction = setDeserializer;
  binding.structuredClone = structuredClone;
  Object.defineProperty(binding, 'DOMException', {
    configurable: true,
    enumerable: true,
    get: () => context.perContextExports.DOMException,
  });
  binding.exposeLazyDOMExceptionProperty = (target) => {
    native.defineLazyProperty(target, 'DOMException', () => context.perContextExports.DOMException, false);
  };
};
