"""The cipher suites of a session, and the lists of OpenSSL that choose suites. Next: context.

The rules are those of `runner/bootstrap/tls/ciphers.js`.
"""

import re

from .errors import SSLError

TLS13 = ("TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256")
TLS12 = (
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES128-GCM-SHA256",
)

# The groups that a list may name, with a text that the name of each suite of the group contains.
_GROUPS = {
    **dict.fromkeys(("ALL", "DEFAULT", "HIGH", "TLSv1.2", "ECDH", "ECDHE", "EECDH", "kECDHE", "kEECDH"), ""),
    "AESGCM": "GCM",
    "AES": "AES",
    "AES128": "AES128",
    "AES256": "AES256",
    "CHACHA20": "CHACHA20",
    "aRSA": "-RSA-",
    "RSA": "-RSA-",
    "aECDSA": "ECDSA",
    "ECDSA": "ECDSA",
    "SHA256": "AES128",
    "SHA384": "SHA384",
}
# The beginnings of OpenSSL's other suites and groups, which a session does not have.
_OTHERS = re.compile(
    "k[A-Z]|a[A-Z]|A?ECDH|A?DH|EDH|EXP|PSK|SRP|RSA|AES|CAMELLIA|ARIA|SEED|IDEA|RC|DES|3DES|NULL|eNULL|GOST|MD5"
    "|SHA|LOW|MEDIUM|FIPS|SSLv3|TLSv1|CBC|DSS|SUITEB|CHACHA|ECDSA|COMPLEMENTOF|TLS_"
)


def chosen(text):
    """Returns the suites of TLS 1.2 that a list chooses. Raises if the list names no suite."""
    found = []
    known = False
    for part in re.split("[:, ]+", text):
        if not part or part.startswith("@"):
            continue
        excludes = part[0] in "!-"
        name = part.lstrip("!+-").split("@")[0]
        known = known or name in _GROUPS or name in TLS12 or _OTHERS.match(name) is not None
        if part.startswith("+"):
            continue
        matching = [suite for suite in TLS12 if all(_matches(suite, one) for one in name.split("+"))]
        if excludes:
            found = [suite for suite in found if suite not in matching]
        else:
            found += [suite for suite in matching if suite not in found]
    if not known:
        raise SSLError("No cipher can be selected.")
    return found


def _matches(suite, name):
    text = _GROUPS.get(name)
    return suite == name if text is None else text in suite


def bits(name):
    """Returns the strength of a suite."""
    return 128 if "AES_128" in name or "AES128" in name else 256


def described(name):
    """Returns the dictionary of a suite in `SSLContext.get_ciphers`."""
    is_13 = name in TLS13
    protocol = "TLSv1.3" if is_13 else "TLSv1.2"
    return {
        "name": name,
        "protocol": protocol,
        "description": f"{name} {protocol}",
        "strength_bits": bits(name),
        "alg_bits": bits(name),
        "aead": True,
        "symmetric": "chacha20-poly1305" if "CHACHA20" in name else f"aes-{bits(name)}-gcm",
        "digest": None,
        "kea": "kx-any" if is_13 else "kx-ecdhe",
        "auth": "auth-any" if is_13 else "auth-ecdsa" if "ECDSA" in name else "auth-rsa",
    }
