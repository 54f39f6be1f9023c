// Addresses as objects, and lists of rules about them (node_sockaddr.cc). Addresses and other rules
// are stored in two lists, newest first, because Node prints the rules in this order. Next:
// ../net/ip.js.
'use strict';

const { format, parseV4, parseV6 } = require('../net/ip.js');

const AF_INET = 2;
const AF_INET6 = 10;
const MAPPED_PREFIX = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

class SocketAddress {
  constructor(address, port, family, flowlabel) {
    const bytes = family === AF_INET ? parseV4(address) : parseV6(address);
    if (bytes === undefined) {
      throw Object.assign(new Error('Invalid socket address'), { code: 'ERR_INVALID_ADDRESS' });
    }
    this.bytes = bytes;
    this.port = port;
    this.family = family;
    this.flow = flowlabel;
  }
  detail(target) {
    target.address = format(this.bytes);
    target.port = this.port;
    target.family = this.family;
    target.flowlabel = this.flow;
    return target;
  }
  legacyDetail() {
    return { address: format(this.bytes), port: this.port, family: this.family === AF_INET ? 'IPv4' : 'IPv6' };
  }
  flowlabel() {
    return this.flow;
  }
}

const familyName = (bytes) => (bytes.length === 4 ? 'IPv4' : 'IPv6');

// Returns `bytes` in the address family of `other`, or undefined if `bytes` has no form in that
// family.
function alike(bytes, other) {
  if (bytes.length === other.length) return bytes;
  if (bytes.length === 4) return Uint8Array.from([...MAPPED_PREFIX, ...bytes]);
  return MAPPED_PREFIX.every((byte, index) => bytes[index] === byte) ? bytes.subarray(12) : undefined;
}

function compare(bytes, other) {
  for (let i = 0; i < bytes.length; i++) if (bytes[i] !== other[i]) return bytes[i] - other[i];
  return 0;
}

function inSubnet(bytes, network, prefix) {
  const whole = prefix >> 3;
  for (let i = 0; i < whole; i++) if (bytes[i] !== network[i]) return false;
  const rest = prefix & 7;
  return rest === 0 || bytes[whole] >> (8 - rest) === network[whole] >> (8 - rest);
}

const rules = {
  address: ({ bytes }) => ({
    key: `Address: ${familyName(bytes)} ${format(bytes)}`,
    matches: (tested) => {
      const same = alike(tested, bytes);
      return same !== undefined && compare(same, bytes) === 0;
    },
  }),
  range: ({ bytes: start }, { bytes: end }) => ({
    key: `Range: ${familyName(start)} ${format(start)}-${format(end)}`,
    matches: (tested) => {
      const same = alike(tested, start);
      return same !== undefined && compare(same, start) >= 0 && compare(same, end) <= 0;
    },
  }),
  subnet: ({ bytes: network }, prefix) => ({
    key: `Subnet: ${familyName(network)} ${format(network)}/${prefix}`,
    matches: (tested) => {
      const same = alike(tested, network);
      return same !== undefined && inSubnet(same, network, prefix);
    },
  }),
};

class BlockList {
  #addresses = [];
  #rules = [];

  #matches(bytes) {
    return this.#addresses.some((rule) => rule.matches(bytes)) || this.#rules.some((rule) => rule.matches(bytes));
  }
  #add(rule) {
    this.#rules.unshift(rule);
  }
  #remove({ key }, from = this.#rules) {
    const index = from.findIndex((rule) => rule.key === key);
    if (index >= 0) from.splice(index, 1);
  }
  addAddress(address) {
    const added = rules.address(address);
    if (!this.#addresses.some((rule) => rule.key === added.key)) this.#addresses.unshift(added);
  }
  addAddresses(addresses) {
    for (const address of addresses) this.addAddress(address);
  }
  addRange(start, end) {
    if (start.bytes.length !== end.bytes.length || compare(start.bytes, end.bytes) > 0) return false;
    this.#add(rules.range(start, end));
    return undefined;
  }
  addSubnet(network, prefix) {
    this.#add(rules.subnet(network, prefix));
  }
  removeAddress(address) {
    this.#remove(rules.address(address), this.#addresses);
  }
  removeRange(start, end) {
    this.#remove(rules.range(start, end));
  }
  removeSubnet(network, prefix) {
    this.#remove(rules.subnet(network, prefix));
  }
  check(address) {
    return this.#matches(address.bytes);
  }
  checkString(text, family) {
    const bytes = family === AF_INET6 ? parseV6(text) : parseV4(text);
    return bytes !== undefined && this.#matches(bytes);
  }
  getRules() {
    return [...this.#addresses, ...this.#rules].map((rule) => rule.key);
  }
  getSize() {
    return this.#addresses.length + this.#rules.length;
  }
  clear() {
    this.#addresses = [];
    this.#rules = [];
  }
}

module.exports = function blockList(binding) {
  binding.SocketAddress = SocketAddress;
  binding.BlockList = BlockList;
};
