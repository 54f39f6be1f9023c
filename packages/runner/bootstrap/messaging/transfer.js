// The transfer list of structuredClone and postMessage: the transferable objects, the order of the
// checks, and Node's errors for other objects (Message::Serialize in node_messaging.cc). Next:
// clone.js, which moves the accepted objects.
'use strict';

const context = require('../context.js');
const { cloneError } = require('./describe.js');

// kTransferable and kCloneable of Node's `util` binding.
const TRANSFERABLE = 1;
const CLONEABLE = 2;

const modeOf = (value) => value[context.privateSymbols.transfer_mode_private_symbol];

const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';

// Returns the set of objects to move, in the order of the list. An object such as a stream adds the
// objects of its own list.
function checkTransferList(list, source) {
  const found = new Set();
  const queue = [...list];
  for (let at = 0; at < queue.length; at++) {
    const item = queue[at];
    if (!isObject(item)) throw cloneError('Found invalid value in transferList.');
    if (native.classId(item) === native.classes.ARRAY_BUFFER) checkBuffer(item, found);
    else if (context.isMessagePort(item)) checkPort(item, found, source);
    else queue.push(...checkHostObject(item, found));
    found.add(item);
  }
  return found;
}

function checkBuffer(buffer, found) {
  const marked = buffer[context.privateSymbols.untransferable_object_private_symbol];
  if (buffer.detached || marked !== undefined) throw cloneError('Cannot transfer object of unsupported type.');
  if (found.has(buffer)) throw cloneError('Transfer list contains duplicate ArrayBuffer');
}

function checkPort(port, found, source) {
  if (port === source) throw cloneError('Transfer list contains source port');
  if (found.has(port)) throw cloneError('Transfer list contains duplicate MessagePort');
  if (context.isDetachedPort(port)) throw cloneError('MessagePort in transfer list is already detached');
}

function checkHostObject(item, found) {
  const mode = modeOf(item);
  if (mode === undefined) throw cloneError('Found invalid value in transferList.');
  if (found.has(item)) throw cloneError(`Transfer list contains duplicate ${native.constructorName(item)}`);
  if ((mode & TRANSFERABLE) === 0) throw cloneError('Cannot transfer object of unsupported type.');
  const { messaging_transfer_list_symbol: kTransferList } = context.symbols;
  return typeof item[kTransferList] === 'function' ? item[kTransferList]() : [];
}

function detach(buffer) {
  if (!buffer.detached) native.detachArrayBuffer(buffer);
}

module.exports = { TRANSFERABLE, CLONEABLE, modeOf, checkTransferList, detach };
