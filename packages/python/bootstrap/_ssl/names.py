"""Compares the name of a server with its certificate, by the rules of OpenSSL. Next: socket."""

import ipaddress

from .constants import HOSTFLAG_NEVER_CHECK_SUBJECT, HOSTFLAG_NO_PARTIAL_WILDCARDS, HOSTFLAG_NO_WILDCARDS


def address_of(name):
    """Returns the IP address that a name is, or None."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def mismatch(certificate, name, flags):
    """Returns None if a certificate is valid for `name`, else the code of the failed verification."""
    address = address_of(name)
    alternatives = certificate.alternative_names()
    if address is not None:
        found = (address_of(value) for kind, value in alternatives if kind == "IP Address")
        return None if address in found else "IP_ADDRESS_MISMATCH"
    names = [value for kind, value in alternatives if kind == "DNS"]
    if not names and not flags & HOSTFLAG_NEVER_CHECK_SUBJECT:
        names = certificate.common_names()
    wanted = name.lower().rstrip(".")
    return None if any(_matches(one.lower(), wanted, flags) for one in names) else "HOSTNAME_MISMATCH"


def _matches(pattern, name, flags):
    if pattern == name:
        return True
    first, _, rest = pattern.partition(".")
    label, _, others = name.partition(".")
    if flags & HOSTFLAG_NO_WILDCARDS or first.count("*") != 1 or "." not in rest or rest != others:
        return False
    if first != "*" and (flags & HOSTFLAG_NO_PARTIAL_WILDCARDS or label.startswith("xn--") or first.startswith("xn--")):
        return False
    before, after = first.split("*")
    return len(label) > len(before) + len(after) and label.startswith(before) and label.endswith(after)
