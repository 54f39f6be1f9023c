// Name resolution (cares_wrap.cc). `localhost`, its subdomains and addresses resolve in the guest.
// The kernel checks the permission of every other name, and looks up and queries the name outside
// the runtime, where the resolvers are chosen. Most servers of a resolver therefore have no effect.
// Queries to servers on the loopback fail with ECONNREFUSED, because the guest sends no DNS
// messages. Next: ../net/look-ups.js.
'use strict';

const { reportWith } = require('../errors/denials.js');
const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { ERRNO, NUMBERS } = require('../net/calls.js');
const { TYPES, resultOf, reverseName } = require('../net/dns-records.js');
const { format, parse, parseV4, parseV6 } = require('../net/ip.js');
const { EAI, ask, cancel, lookUpError, queryError } = require('../net/look-ups.js');

const LOOPBACK = { 4: '127.0.0.1', 6: '::1' };
// The errors of c-ares: `query*` passes the codes to Node, and `strerror` returns the texts.
const MESSAGES = [
  'Successful completion',
  'DNS server returned answer with no data',
  'DNS server claims query was misformatted',
  'DNS server returned general failure',
  'Domain name not found',
  'DNS server does not implement requested operation',
  'DNS server refused query',
  'Misformatted DNS query',
  'Misformatted domain name',
  'Unsupported address family',
  'Misformatted DNS reply',
  'Could not contact DNS servers',
  'Timeout while contacting DNS servers',
  'End of file',
  'Error reading file',
  'Out of memory',
  'Channel is being destroyed',
  'Misformatted string',
  'Illegal flags specified',
  'Given hostname is not numeric',
  'Illegal hints flags specified',
  'c-ares library initialization not yet performed',
  'Error loading iphlpapi.dll',
  'Could not find GetNetworkParams function',
  'DNS query cancelled',
];
const SERVICES = { __proto__: null, 21: 'ftp', 22: 'ssh', 25: 'smtp', 53: 'domain', 80: 'http', 443: 'https' };

function requestClass(name, provider) {
  return {
    [name]: class extends AsyncWrap {
      constructor() {
        super(provider);
      }
    },
  }[name];
}

// Completes a request. `args` begin with the error, if any, which has the reason.
function finish(req, reason, ...args) {
  try {
    reportWith(reason, () => req.makeCallback(req.oncomplete, ...args), args[0]);
  } finally {
    req.emitDestroy();
  }
}

// Completes a request in a later round of the loop.
function later(req, ...args) {
  native.enqueueTask(() => finish(req, undefined, ...args));
  return 0;
}

const isLoopback = (bytes) => (bytes.length === 4 ? bytes[0] === 127 : format(bytes) === '::1');

// The names of the kernel's call are ASCII.
const toAscii = (name) => (/^[\0-\x7f]*$/.test(name) ? name : native.idna(name, false) || name);

// Returns addresses in the order and of the family that `getaddrinfo` of libc returns.
function arrange(addresses, family, flags, order, binding) {
  const v4 = addresses.filter((address) => !address.includes(':'));
  const v6 = addresses.filter((address) => address.includes(':'));
  if (family === 4) return v4;
  if (family === 6) {
    const mapped = (flags & binding.AI_V4MAPPED) !== 0 && (v6.length === 0 || (flags & binding.AI_ALL) !== 0);
    return mapped ? [...v6, ...v4.map((address) => `::ffff:${address}`)] : v6;
  }
  if (order === binding.DNS_ORDER_IPV4_FIRST) return [...v4, ...v6];
  return order === binding.DNS_ORDER_IPV6_FIRST ? [...v6, ...v4] : addresses;
}

module.exports = function caresWrap(binding) {
  const { AI_V4MAPPED, DNS_ORDER_IPV6_FIRST } = binding;
  binding.GetAddrInfoReqWrap = requestClass('GetAddrInfoReqWrap', 'GETADDRINFOREQWRAP');
  binding.GetNameInfoReqWrap = requestClass('GetNameInfoReqWrap', 'GETNAMEINFOREQWRAP');
  binding.QueryReqWrap = requestClass('QueryReqWrap', 'QUERYWRAP');

  binding.getaddrinfo = (req, hostname, family, flags, order) => {
    const literal = parse(hostname.split('%')[0]);
    if (literal !== undefined) {
      const own = literal.length === 4 ? 4 : 6;
      return family === 0 || family === own ? later(req, null, [format(literal)]) : later(req, EAI.EAI_FAMILY);
    }
    const wanted = family === 6 && (flags & AI_V4MAPPED) !== 0 ? 0 : family;
    const operation = ask(NUMBERS.lookUp, toAscii(hostname), wanted, (code, reason, text) => {
      if (code !== undefined) {
        finish(req, reason, typeof code === 'number' ? code : lookUpError(code));
        return;
      }
      const addresses = arrange(text.split(' '), family, flags, order, binding);
      if (addresses.length === 0) finish(req, undefined, EAI.EAI_NODATA);
      else finish(req, undefined, null, addresses);
    });
    if (operation !== 0) return 0;
    if (family !== 0) return later(req, null, [LOOPBACK[family]]);
    const { 4: v4, 6: v6 } = LOOPBACK;
    // As in a usual hosts file, the IPv4 address is first, except with `DNS_ORDER_IPV6_FIRST`.
    return later(req, null, order === DNS_ORDER_IPV6_FIRST ? [v6, v4] : [v4, v6]);
  };
  binding.getnameinfo = (req, address, port) => {
    const bytes = parse(address);
    const service = SERVICES[port] ?? `${port}`;
    if (bytes === undefined || isLoopback(bytes)) {
      return later(req, null, bytes === undefined ? address : 'localhost', service);
    }
    // Like libc, returns the address if the address has no name.
    ask(NUMBERS.query, reverseName(bytes), TYPES.Ptr, (code, _reason, text) => {
      const names = code === undefined ? resultOf('Ptr', text)?.[0] : undefined;
      finish(req, undefined, null, typeof names?.[0] === 'string' ? names[0] : address, service);
    });
    return 0;
  };
  binding.canonicalizeIP = (address) => {
    const bytes = parse(`${address}`);
    return bytes === undefined ? undefined : format(bytes);
  };
  binding.convertIpv6StringToBuffer = (address) => {
    const bytes = parseV6(`${address}`);
    return bytes === undefined ? null : Buffer.from(bytes.buffer);
  };
  binding.strerror = (code) => MESSAGES[code] ?? 'unknown';
  binding.ChannelWrap = channelClass();
};

const DNS_PORT = 53;
const BAD_STRING = 17;

// Makes the class of a resolver.
function channelClass() {
  class ChannelWrap extends AsyncWrap {
    #servers = [['127.0.0.1', DNS_PORT]];
    // Whether the program has chosen servers on the loopback.
    #asksLoopback = false;
    // The queries in progress by operation.
    #pending = new Map();
    constructor() {
      super('DNSCHANNEL');
    }
    getServers() {
      return this.#servers.map((server) => [...server]);
    }
    setServers(servers) {
      if (servers.some(([, address]) => parse(address) === undefined)) return BAD_STRING;
      this.#servers = servers.map(([, address, port]) => [address, port]);
      this.#asksLoopback = this.#servers.some(([address]) => isLoopback(parse(address)));
      return 0;
    }
    setLocalAddress(first, second) {
      const invalid = (message) => Object.assign(new Error(message), { code: 'ERR_INVALID_ARG_VALUE' });
      if (parse(first) === undefined) throw invalid('Invalid IP address.');
      if (second === undefined) return;
      const [one, other] = [parseV4(first), parseV4(second)];
      if (parse(second) === undefined) throw invalid('Invalid IP address.');
      if ((one === undefined) === (other === undefined)) throw invalid('Cannot specify two addresses of one family.');
    }
    cancel() {
      for (const [operation, req] of this.#pending) {
        cancel(operation);
        later(req, 'ECANCELLED');
      }
      this.#pending.clear();
    }
    getHostByAddr(req, address) {
      const bytes = parse(address);
      if (bytes === undefined) return ERRNO.EINVAL;
      return isLoopback(bytes) ? later(req, 'ECONNREFUSED') : this.#query('Ptr', req, reverseName(bytes));
    }
    queryAny(req, name) {
      return this.#query('Any', req, name);
    }
    queryA(req, name) {
      return this.#query('A', req, name);
    }
    queryAaaa(req, name) {
      return this.#query('Aaaa', req, name);
    }
    queryCaa(req, name) {
      return this.#query('Caa', req, name);
    }
    queryCname(req, name) {
      return this.#query('Cname', req, name);
    }
    queryMx(req, name) {
      return this.#query('Mx', req, name);
    }
    queryNaptr(req, name) {
      return this.#query('Naptr', req, name);
    }
    queryNs(req, name) {
      return this.#query('Ns', req, name);
    }
    queryPtr(req, name) {
      return this.#query('Ptr', req, name);
    }
    querySrv(req, name) {
      return this.#query('Srv', req, name);
    }
    querySoa(req, name) {
      return this.#query('Soa', req, name);
    }
    queryTlsa(req, name) {
      return this.#query('Tlsa', req, name);
    }
    queryTxt(req, name) {
      return this.#query('Txt', req, name);
    }
    #query(kind, req, name) {
      if (this.#asksLoopback) return later(req, 'ECONNREFUSED');
      const operation = ask(NUMBERS.query, toAscii(name), TYPES[kind], (code, reason, text) => {
        this.#pending.delete(operation);
        const result = code === undefined ? resultOf(kind, text) : undefined;
        if (result !== undefined) finish(req, undefined, null, ...result);
        else finish(req, reason, typeof code === 'number' ? code : queryError(code ?? 'EBADRESP'));
      });
      // No server answers for the names of the guest's machine.
      if (operation === 0) return later(req, 'ECONNREFUSED');
      if (operation > 0) this.#pending.set(operation, req);
      return 0;
    }
  }
  return ChannelWrap;
}
