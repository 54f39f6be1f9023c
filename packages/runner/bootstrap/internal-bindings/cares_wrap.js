// Name resolution (cares_wrap.cc). Only `localhost`, its subdomains and addresses resolve, because
// a sandbox has no network yet. The kernel denies lookups and queries of other names. Queries of
// names inside the sandbox fail with ECONNREFUSED, which c-ares returns where no server answers and
// which programs expect. Next: ../net/ip.js.
'use strict';

const { EACCES, reasonOf, reportWith } = require('../errors/denials.js');
const { AsyncWrap } = require('../event-loop/async-wrap.js');
const { ERRNO, NUMBERS, sys } = require('../net/calls.js');
const { format, parse, parseV4, parseV6 } = require('../net/ip.js');

const EAI_FAMILY = -3005;
const EAI_NONAME = -3008;
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

// Completes a request in a later round of the loop. `args` begin with the error, if any.
function later(req, ...args) {
  const reason = reasonOf(args[0]);
  native.enqueueTask(() => {
    reportWith(reason, () => req.makeCallback(req.oncomplete, ...args));
    req.emitDestroy();
  });
  return 0;
}

const isLoopback = (bytes) => (bytes.length === 4 ? bytes[0] === 127 : format(bytes) === '::1');

// Looks up a name in the kernel, which also checks the permission. Returns EACCES without the
// permission, and EAI_NONAME for any other failure.
function lookUp(name) {
  const found = sys(NUMBERS.lookUp, name);
  return found < 0 && found !== EACCES ? EAI_NONAME : found;
}

module.exports = function caresWrap(binding) {
  const { DNS_ORDER_IPV6_FIRST } = binding;
  binding.GetAddrInfoReqWrap = requestClass('GetAddrInfoReqWrap', 'GETADDRINFOREQWRAP');
  binding.GetNameInfoReqWrap = requestClass('GetNameInfoReqWrap', 'GETNAMEINFOREQWRAP');
  binding.QueryReqWrap = requestClass('QueryReqWrap', 'QUERYWRAP');

  binding.getaddrinfo = (req, hostname, family, flags, order) => {
    const literal = parse(hostname.split('%')[0]);
    if (literal !== undefined) {
      const own = literal.length === 4 ? 4 : 6;
      return family === 0 || family === own ? later(req, null, [format(literal)]) : later(req, EAI_FAMILY);
    }
    const found = lookUp(hostname);
    if (found < 0) return later(req, found);
    if (family !== 0) return later(req, null, [LOOPBACK[family]]);
    const { 4: v4, 6: v6 } = LOOPBACK;
    // As in a usual hosts file, the IPv4 address is first, except with `DNS_ORDER_IPV6_FIRST`.
    return later(req, null, order === DNS_ORDER_IPV6_FIRST ? [v6, v4] : [v4, v6]);
  };
  binding.getnameinfo = (req, address, port) => {
    const bytes = parse(address);
    const local = bytes !== undefined && isLoopback(bytes);
    return later(req, null, local ? 'localhost' : address, SERVICES[port] ?? `${port}`);
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

// Completes a query: with EACCES if the kernel denies the lookup of the name.
function query(req, name) {
  return later(req, lookUp(name) === EACCES ? EACCES : 'ECONNREFUSED');
}

const QUERIES = ['Any', 'A', 'Aaaa', 'Caa', 'Cname', 'Mx', 'Naptr', 'Ns', 'Ptr', 'Srv', 'Soa', 'Tlsa', 'Txt'];
const DNS_PORT = 53;
const BAD_STRING = 17;

// Makes the class of a resolver, which stores its servers and queries none of them.
function channelClass() {
  class ChannelWrap extends AsyncWrap {
    #servers = [['127.0.0.1', DNS_PORT]];
    constructor() {
      super('DNSCHANNEL');
    }
    getServers() {
      return this.#servers.map((server) => [...server]);
    }
    setServers(servers) {
      if (servers.some(([, address]) => parse(address) === undefined)) return BAD_STRING;
      this.#servers = servers.map(([, address, port]) => [address, port]);
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
    cancel() {}
    getHostByAddr(req, address) {
      const bytes = parse(address);
      if (bytes === undefined) return ERRNO.EINVAL;
      return isLoopback(bytes) ? later(req, 'ECONNREFUSED') : query(req, address);
    }
  }
  for (const name of QUERIES) ChannelWrap.prototype[`query${name}`] = query;
  return ChannelWrap;
}
