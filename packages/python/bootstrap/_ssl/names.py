"""The names in certificates: OpenSSL's table of objects, attributes, and alternative names. The
table has the objects that certificates have. Next: hostnames.
"""

import ipaddress

# (number, short name, long name, object identifier)
_OBJECTS = (
    (13, "CN", "commonName", "2.5.4.3"),
    (100, "SN", "surname", "2.5.4.4"),
    (105, "serialNumber", "serialNumber", "2.5.4.5"),
    (14, "C", "countryName", "2.5.4.6"),
    (15, "L", "localityName", "2.5.4.7"),
    (16, "ST", "stateOrProvinceName", "2.5.4.8"),
    (660, "street", "streetAddress", "2.5.4.9"),
    (17, "O", "organizationName", "2.5.4.10"),
    (18, "OU", "organizationalUnitName", "2.5.4.11"),
    (106, "title", "title", "2.5.4.12"),
    (107, "description", "description", "2.5.4.13"),
    (860, "businessCategory", "businessCategory", "2.5.4.15"),
    (661, "postalCode", "postalCode", "2.5.4.17"),
    (173, "name", "name", "2.5.4.41"),
    (99, "GN", "givenName", "2.5.4.42"),
    (101, "initials", "initials", "2.5.4.43"),
    (174, "dnQualifier", "dnQualifier", "2.5.4.46"),
    (510, "pseudonym", "pseudonym", "2.5.4.65"),
    (1089, "organizationIdentifier", "organizationIdentifier", "2.5.4.97"),
    (48, "emailAddress", "emailAddress", "1.2.840.113549.1.9.1"),
    (49, "unstructuredName", "unstructuredName", "1.2.840.113549.1.9.2"),
    (458, "UID", "userId", "0.9.2342.19200300.100.1.1"),
    (391, "DC", "domainComponent", "0.9.2342.19200300.100.1.25"),
    (955, "jurisdictionL", "jurisdictionLocalityName", "1.3.6.1.4.1.311.60.2.1.1"),
    (956, "jurisdictionST", "jurisdictionStateOrProvinceName", "1.3.6.1.4.1.311.60.2.1.2"),
    (957, "jurisdictionC", "jurisdictionCountryName", "1.3.6.1.4.1.311.60.2.1.3"),
    (129, "serverAuth", "TLS Web Server Authentication", "1.3.6.1.5.5.7.3.1"),
    (130, "clientAuth", "TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"),
    (131, "codeSigning", "Code Signing", "1.3.6.1.5.5.7.3.3"),
    (132, "emailProtection", "E-mail Protection", "1.3.6.1.5.5.7.3.4"),
    (133, "timeStamping", "Time Stamping", "1.3.6.1.5.5.7.3.8"),
    (180, "OCSPSigning", "OCSP Signing", "1.3.6.1.5.5.7.3.9"),
    (178, "OCSP", "OCSP", "1.3.6.1.5.5.7.48.1"),
    (179, "caIssuers", "CA Issuers", "1.3.6.1.5.5.7.48.2"),
    (85, "subjectAltName", "X509v3 Subject Alternative Name", "2.5.29.17"),
    (87, "basicConstraints", "X509v3 Basic Constraints", "2.5.29.19"),
    (6, "rsaEncryption", "rsaEncryption", "1.2.840.113549.1.1.1"),
    (408, "id-ecPublicKey", "id-ecPublicKey", "1.2.840.10045.2.1"),
)
_LONG_NAMES = {oid: long_name for _, _, long_name, oid in _OBJECTS}

# The kinds of alternative names.
_EMAIL = 1
DNS = 2
_DIRECTORY = 4
_URI = 6
ADDRESS = 7
_REGISTERED = 8
_LABELS = {_EMAIL: "email", DNS: "DNS", _URI: "URI"}
_KIND = 0x1F


def txt2obj(txt, name=False):
    """Returns number, short name, long name and identifier of an object identifier, or of a name
    if `name` is true."""
    for found in _OBJECTS:
        if txt == found[3] or (name and txt in found[1:3]):
            return found
    raise ValueError(f"unknown object '{txt[:100]}'")


def nid2obj(nid, /):
    """Returns number, short name, long name and identifier of a number."""
    if nid < 0:
        raise ValueError("NID must be positive")
    for found in _OBJECTS:
        if nid == found[0]:
            return found
    raise ValueError(f"unknown NID {nid}")


def attributes(name):
    """Returns a name as OpenSSL's pairs: a tuple of tuples of (long name, value)."""
    return tuple(tuple(map(_attribute, part.children())) for part in name.children())


def common_names(name):
    """Returns the values of `commonName`."""
    pairs = (pair for part in attributes(name) for pair in part)
    return [value for key, value in pairs if key == "commonName"]


def _attribute(pair):
    kind, value = pair.children()[:2]
    oid = kind.oid()
    return _LONG_NAMES.get(oid, oid), value.text()


def kind_of(element):
    """Returns the kind of an alternative name."""
    return element.tag & _KIND


def alternative(element):
    """Returns an alternative name as (label, value)."""
    kind = kind_of(element)
    if kind in _LABELS:
        return _LABELS[kind], element.content.decode("utf-8", "replace")
    if kind == ADDRESS:
        return "IP Address", _address_text(element.content)
    if kind == _DIRECTORY:
        return "DirName", attributes(element.children()[0])
    if kind == _REGISTERED:
        return "Registered ID", element.oid()
    return "othername", "<unsupported>"


def uris(elements):
    """Returns the addresses among alternative names."""
    return [element.content.decode("latin-1") for element in elements if kind_of(element) == _URI]


def _address_text(content):
    if len(content) == 4:
        return str(ipaddress.IPv4Address(content))
    if len(content) != 16:
        return "<invalid>"
    return ":".join(f"{content[at] << 8 | content[at + 1]:X}" for at in range(0, 16, 2))
