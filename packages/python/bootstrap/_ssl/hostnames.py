"""Compares the name of a host with the names in a certificate, as OpenSSL does. Next: der."""

import ipaddress

from . import errors, names
from .constants import (
    HOSTFLAG_ALWAYS_CHECK_SUBJECT,
    HOSTFLAG_NEVER_CHECK_SUBJECT,
    HOSTFLAG_NO_PARTIAL_WILDCARDS,
    HOSTFLAG_NO_WILDCARDS,
)


def address_of(host):
    """Returns the bytes of an address, or None for a name."""
    try:
        return ipaddress.ip_address(host).packed
    except ValueError:
        return None


def check(certificate, host, flags):
    """Raises SSLCertVerificationError if the certificate is not for the host."""
    address = address_of(host)
    if address is not None:
        found = [one.content for one in certificate.alternatives() if names.kind_of(one) == names.ADDRESS]
        if address not in found:
            text = f"IP address mismatch, certificate is not valid for '{host}'."
            raise errors.verification_error(errors.ADDRESS_MISMATCH, text)
    elif not any(_matches(name, host, flags) for name in _names_of(certificate, flags)):
        text = f"Hostname mismatch, certificate is not valid for '{host}'."
        raise errors.verification_error(errors.HOSTNAME_MISMATCH, text)


def _names_of(certificate, flags):
    """Returns the alternative names, and the subject's name if a certificate has none."""
    found = [names.alternative(one)[1] for one in certificate.alternatives() if names.kind_of(one) == names.DNS]
    if flags & HOSTFLAG_NEVER_CHECK_SUBJECT or (found and not flags & HOSTFLAG_ALWAYS_CHECK_SUBJECT):
        return found
    return found + certificate.common_names()


def _matches(pattern, host, flags):
    pattern, host = pattern.lower(), host.lower().removesuffix(".")
    if pattern == host:
        return True
    first, _, rest = pattern.partition(".")
    label, _, others = host.partition(".")
    # A wildcard needs two labels behind it, and stands for at least one character.
    if flags & HOSTFLAG_NO_WILDCARDS or "." not in rest or rest != others or not label:
        return False
    if first == "*":
        return True
    if flags & HOSTFLAG_NO_PARTIAL_WILDCARDS or first.count("*") != 1 or "xn--" in (first[:4], label[:4]):
        return False
    before, _, after = first.partition("*")
    return len(label) >= len(before) + len(after) and label.startswith(before) and label.endswith(after)
