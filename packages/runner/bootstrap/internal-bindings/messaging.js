// Message channels within the single thread, and structuredClone (node_messaging.cc). Next:
// ../messaging/port.js; ../messaging/clone.js.
'use strict';

const context = require('../context.js');
const { clone, setDeserializer } = require('../messaging/clone.js');
const { MessagePort, MessageChannel, broadcastChannel, isMessagePort, drain, receive, stop } = require('../messaging/port.js');

// The classes of handles that all copies of an object share, such as histograms and the bytes of
// blobs. In Node the copies share the C++ object.
const sharedClasses = new Set();
context.shareHandles = (Class) => sharedClasses.add(Class.prototype);
context.isSharedHandle = (value) =>
  typeof value === 'object' && value !== null && sharedClasses.has(Object.getPrototypeOf(value));

module.exports = function messaging(binding) {
  binding.MessagePort = MessagePort;
  binding.MessageChannel = MessageChannel;
  binding.broadcastChannel = broadcastChannel;
  binding.drainMessagePort = drain;
  binding.receiveMessageOnPort = receive;
  binding.stopMessagePort = stop;
  binding.checkMessagePort = isMessagePort;
  binding.setDeserializerCreateObjectFunction = setDeserializer;
  binding.structuredClone = (value, { transfer }) => clone(value, transfer).copy;
  Object.defineProperty(binding, 'DOMException', {
    configurable: true,
    enumerable: true,
    get: () => context.perContextExports.DOMException,
  });
  binding.exposeLazyDOMExceptionProperty = (target) => {
    native.defineLazyProperty(target, 'DOMException', () => context.perContextExports.DOMException, false);
  };
};
