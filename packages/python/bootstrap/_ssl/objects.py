"""The object identifiers that programs look up by number or by name. Next: certificates.

The table has the attributes of names and the purposes of certificates, with OpenSSL's numbers.
"""

# Number, short name, long name, identifier.
_TABLE = (
    (13, "CN", "commonName", "2.5.4.3"),
    (14, "C", "countryName", "2.5.4.6"),
    (15, "L", "localityName", "2.5.4.7"),
    (16, "ST", "stateOrProvinceName", "2.5.4.8"),
    (17, "O", "organizationName", "2.5.4.10"),
    (18, "OU", "organizationalUnitName", "2.5.4.11"),
    (48, "emailAddress", "emailAddress", "1.2.840.113549.1.9.1"),
    (99, "GN", "givenName", "2.5.4.42"),
    (100, "SN", "surname", "2.5.4.4"),
    (101, "initials", "initials", "2.5.4.43"),
    (105, "serialNumber", "serialNumber", "2.5.4.5"),
    (106, "title", "title", "2.5.4.12"),
    (107, "description", "description", "2.5.4.13"),
    (129, "serverAuth", "TLS Web Server Authentication", "1.3.6.1.5.5.7.3.1"),
    (130, "clientAuth", "TLS Web Client Authentication", "1.3.6.1.5.5.7.3.2"),
    (131, "codeSigning", "Code Signing", "1.3.6.1.5.5.7.3.3"),
    (132, "emailProtection", "E-mail Protection", "1.3.6.1.5.5.7.3.4"),
    (133, "timeStamping", "Time Stamping", "1.3.6.1.5.5.7.3.8"),
    (173, "name", "name", "2.5.4.41"),
    (174, "dnQualifier", "dnQualifier", "2.5.4.46"),
    (180, "OCSPSigning", "OCSP Signing", "1.3.6.1.5.5.7.3.9"),
    (391, "DC", "domainComponent", "0.9.2342.19200300.100.1.25"),
    (458, "UID", "userId", "0.9.2342.19200300.100.1.1"),
    (660, "street", "streetAddress", "2.5.4.9"),
    (661, "postalCode", "postalCode", "2.5.4.17"),
    (860, "businessCategory", "businessCategory", "2.5.4.15"),
    (955, "jurisdictionL", "jurisdictionLocalityName", "1.3.6.1.4.1.311.60.2.1.1"),
    (956, "jurisdictionST", "jurisdictionStateOrProvinceName", "1.3.6.1.4.1.311.60.2.1.2"),
    (957, "jurisdictionC", "jurisdictionCountryName", "1.3.6.1.4.1.311.60.2.1.3"),
    (1089, "organizationIdentifier", "organizationIdentifier", "2.5.4.97"),
)
_BY_NUMBER = {entry[0]: entry for entry in _TABLE}
_BY_OID = {entry[3]: entry for entry in _TABLE}
_BY_NAME = {name: entry for entry in _TABLE for name in entry[1:3]}


def txt2obj(txt, name=False):
    """Looks up an object by its identifier, or also by its names.

    Returns its number, its names and its identifier.
    """
    entry = _BY_OID.get(txt) or (_BY_NAME.get(txt) if name else None)
    if entry is None:
        raise ValueError(f"unknown object '{txt:.100}'")
    return entry


def nid2obj(nid, /):
    """Looks up an object by OpenSSL's number."""
    if nid < 0:
        raise ValueError("NID must be positive")
    if nid not in _BY_NUMBER:
        raise ValueError(f"unknown NID {nid}")
    return _BY_NUMBER[nid]


def long_name(oid):
    """Returns the long name of an identifier, or the identifier."""
    entry = _BY_OID.get(oid)
    return oid if entry is None else entry[2]
