// Name resolution (cares_wrap.cc). `localhost`, its subdomains and addresses resolve in the guest.
// The kernel checks the permission of every other name, and looks up and queries the name outside
// the runtime, where the resolvers are chosen. Servers of a resolver outside the runtime therefore
// have no effect. Servers on the loopback belong to the runtime, and the guest itself queries these
// servers. Next: ../net/look-ups.js, ../net/loopback-resolver.js.
'use strict';

const { reportWith } = require('../errors/denials.js');
const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { ERRNO, INET, INET6, NUMBERS } = require('../net/calls.js');
const { TYPES, resultOf, resultOfRecords, reverseName } = require('../net/dns-records.js');
const { format, parse, parseV4, parseV6 } = require('../net/ip.js');
const { EAI, ask, cancel, lookUpError, queryError } = require('../net/look-ups.js');
const { LoopbackQuery } = require('../net/loopback-resolver.js');

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
    // Node demands a name (NI_NAMEREQD), so an address without a name is an error.
    ask(NUMBERS.query, reverseName(bytes), TYPES.Ptr, (code, reason, text) => {
      const name = code === undefined ? resultOf('Ptr', text)?.[0]?.[0] : undefined;
      if (typeof name === 'string') finish(req, undefined, null, name, service);
      else finish(req, reason, typeof code === 'number' ? code : lookUpError(code ?? 'EAI_NONAME'));
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
  binding.strerror = (code) => (code === PENDING_QUERIES ? 'There are pending queries.' : (MESSAGES[code] ?? 'unknown'));
  binding.ChannelWrap = channelClass();
};

const DNS_PORT = 53;
const BAD_STRING = 17;
// Node's own error of `setServers` (DNS_ESETSRVPENDING).
const PENDING_QUERIES = -1000;
// The server of a resolver without chosen servers. The address means the resolvers outside.
const DEFAULT_SERVER = ['127.0.0.1', DNS_PORT];
const ONION = /(?:^|\.)onion\.?$/i;
// The failures after which a resolver uses its next server.
const UNREACHABLE = ['ECONNREFUSED', 'ETIMEOUT'];

const isDefault = ([address, port]) => address === DEFAULT_SERVER[0] && port === DNS_PORT;
const isOwn = (server) => isLoopback(parse(server[0])) && !isDefault(server);

// Makes the class of a resolver.
function channelClass() {
  class ChannelWrap extends AsyncWrap {
    #servers = [DEFAULT_SERVER];
    // The options of queries to servers on the loopback, with the own addresses by family.
    #options;
    // The function that cancels each query in progress, by the query's request.
    #pending = new Map();
    constructor(timeout, tries, maxTimeout) {
      super('DNSCHANNEL');
      this.#options = { timeout, tries, maxTimeout, sources: {} };
    }
    getServers() {
      return this.#servers.map((server) => [...server]);
    }
    setServers(servers) {
      if (this.#pending.size > 0) return PENDING_QUERIES;
      if (servers.some(([, address]) => parse(address) === undefined)) return BAD_STRING;
      this.#servers = servers.map(([, address, port]) => [address, port]);
      return 0;
    }
    setLocalAddress(first, second) {
      const invalid = (message) => Object.assign(new Error(message), { code: 'ERR_INVALID_ARG_VALUE' });
      const sources = {};
      for (const address of second === undefined ? [first] : [first, second]) {
        if (parse(address) === undefined) throw invalid('Invalid IP address.');
        const family = parseV4(address) === undefined ? INET6 : INET;
        if (sources[family] !== undefined) throw invalid('Cannot specify two addresses of one family.');
        sources[family] = address;
      }
      this.#options.sources = sources;
    }
    cancel() {
      const pending = [...this.#pending];
      this.#pending.clear();
      for (const [req, stop] of pending) {
        stop();
        later(req, 'ECANCELLED');
      }
    }
    getHostByAddr(req, address) {
      const bytes = parse(address);
      if (bytes === undefined) return ERRNO.EINVAL;
      return isLoopback(bytes) ? this.#later(req, null, ['localhost']) : this.#query('Ptr', req, reverseName(bytes));
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
    // Asks the servers in their order. The resolvers outside are one server of the order.
    #query(kind, req, name) {
      // Like c-ares, never asks for names of the Tor network (RFC 7686).
      if (ONION.test(name)) return this.#later(req, 'ENOTFOUND');
      const outside = this.#servers.findIndex((server) => !isOwn(server));
      const own = outside < 0 ? this.#servers : this.#servers.slice(0, outside);
      if (own.length === 0) return this.#ask(kind, req, name);
      const query = new LoopbackQuery(own, this.#options, (code, records, reason) => {
        this.#pending.delete(req);
        if (code === undefined) finish(req, undefined, null, ...resultOfRecords(kind, records));
        else if (outside > 0 && UNREACHABLE.includes(code)) this.#ask(kind, req, name);
        else finish(req, reason, code);
      });
      if (!query.start(toAscii(name), TYPES[kind])) return this.#later(req, 'EBADNAME');
      this.#pending.set(req, () => query.cancel());
      return 0;
    }
    // Asks the resolvers outside the runtime.
    #ask(kind, req, name) {
      const operation = ask(NUMBERS.query, toAscii(name), TYPES[kind], (code, reason, text) => {
        if (!this.#pending.delete(req)) return;
        const result = code === undefined ? resultOf(kind, text) : undefined;
        if (result !== undefined) finish(req, undefined, null, ...result);
        else finish(req, reason, typeof code === 'number' ? code : queryError(code ?? 'EBADRESP'));
      });
      // No server answers for the names of the guest's machine.
      if (operation === 0) return this.#later(req, 'ECONNREFUSED');
      this.#pending.set(req, () => operation > 0 && cancel(operation));
      return 0;
    }
    // Completes a query in a later round of the loop. Until then the query is pending.
    #later(req, ...args) {
      this.#pending.set(req, () => {});
      native.enqueueTask(() => this.#pending.delete(req) && finish(req, undefined, ...args));
      return 0;
    }
  }
  return ChannelWrap;
}
