"""The suites of the edge process, and OpenSSL's lists that choose suites. Next: connection."""

from .errors import SSLError

# The suites of TLS 1.3 and TLS 1.2 in the order of preference, with their numbers.
_SUITES_13 = {
    "TLS_AES_256_GCM_SHA384": 0x1302,
    "TLS_CHACHA20_POLY1305_SHA256": 0x1303,
    "TLS_AES_128_GCM_SHA256": 0x1301,
}
_SUITES_12 = {
    "ECDHE-ECDSA-AES256-GCM-SHA384": 0xC02C,
    "ECDHE-RSA-AES256-GCM-SHA384": 0xC030,
    "ECDHE-ECDSA-CHACHA20-POLY1305": 0xCCA9,
    "ECDHE-RSA-CHACHA20-POLY1305": 0xCCA8,
    "ECDHE-ECDSA-AES128-GCM-SHA256": 0xC02B,
    "ECDHE-RSA-AES128-GCM-SHA256": 0xC02F,
}
SUITES_13 = tuple(_SUITES_13)
SUITES_12 = tuple(_SUITES_12)

_ALL = ("ALL", "DEFAULT", "HIGH", "TLSv1.2", "ECDH", "EECDH", "ECDHE", "kECDHE", "kEECDH", "FIPS")
# The parts of names that groups of suites have.
_PARTS = {
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
} | {name: "" for name in _ALL}
# The beginnings of OpenSSL's other suites and groups, which the edge process does not have.
_OTHERS = (
    "COMPLEMENT k a ADH AECDH DH EDH ECDH EXP PSK SRP RSA AES CAMELLIA ARIA SEED IDEA RC DES 3DES NULL eNULL GOST "
    "MD5 SHA LOW MEDIUM SSLv3 TLSv1 CBC DSS SUITEB CHACHA ECDSA"
).split()


def chosen(text):
    """Returns the suites of TLS 1.2 that a list of OpenSSL chooses, in the order of the list."""
    found, is_known = [], False
    for part in text.replace(",", ":").replace(" ", ":").split(":"):
        name = part.lstrip("!-+").partition("@")[0]
        if not name:
            continue
        is_known = is_known or name in _PARTS or name in SUITES_12 or name.startswith(tuple(_OTHERS))
        matching = [suite for suite in SUITES_12 if all(_is_in(suite, one) for one in name.split("+"))]
        if part[0] in "!-":
            found = [suite for suite in found if suite not in matching]
        elif part[0] != "+":
            found += [suite for suite in matching if suite not in found]
    if not is_known:
        raise SSLError("No cipher can be selected.")
    return found


def _is_in(suite, group):
    return _PARTS[group] in suite if group in _PARTS else suite == group


def bits_of(name):
    """Returns the size of a suite's key."""
    return 128 if "AES128" in name or "AES_128" in name else 256


def version_of(name):
    """Returns the version of a suite."""
    return "TLSv1.3" if name in _SUITES_13 else "TLSv1.2"


def description(name):
    """Returns OpenSSL's description of a suite as a dictionary."""
    is_13, bits = name in _SUITES_13, bits_of(name)
    number = _SUITES_13[name] if is_13 else _SUITES_12[name]
    authentication = "any" if is_13 else "RSA" if "-RSA-" in name else "ECDSA"
    is_aes = "AES" in name
    encryption = f"AESGCM({bits})" if is_aes else "CHACHA20/POLY1305(256)"
    exchange = "any" if is_13 else "ECDH"
    return {
        "id": 0x3000000 | number,
        "name": name,
        "protocol": version_of(name),
        "description": f"{name:30} {version_of(name)} Kx={exchange:8} Au={authentication:5} Enc={encryption:22} Mac=AEAD",
        "strength_bits": bits,
        "alg_bits": bits,
        "aead": True,
        "symmetric": f"aes-{bits}-gcm" if is_aes else "chacha20-poly1305",
        "digest": None,
        "kea": "kx-any" if is_13 else "kx-ecdhe",
        "auth": f"auth-{authentication.lower()}",
    }
