"""The trusted certificates of a context.

The default authorities are the operator's: those of the host machine and of `network.ca.extra`.
The edge process has them, so that a program sends only its own authorities with each session. The
lists of certifi and botocore stand for the default authorities. So `requests` and `httpx` also
trust the operator's private authorities. Next: identities.
"""

import os

from . import der
from .certificates import Certificate, blocks_of, to_pem
from .errors import SSLError, library_error

_FILE_VARIABLE = "SSL_CERT_FILE"
_FOLDER_VARIABLE = "SSL_CERT_DIR"
_FILE = "/etc/ssl/cert.pem"
_FOLDER = "/etc/ssl/certs"
# The ends of the paths of lists that stand for the default authorities.
_PUBLIC_LISTS = ("/certifi/cacert.pem", "/botocore/cacert.pem")
_LIST_LABEL = "X509 CRL"


def default_paths():
    """Returns the variables and the paths of OpenSSL's default authorities."""
    return _FILE_VARIABLE, _FILE, _FOLDER_VARIABLE, _FOLDER


class Authorities:
    """Trusted certificates, and lists of revoked certificates."""

    def __init__(self):
        self.has_defaults = False
        self._certificates = {}
        self._lists = {}

    def load_defaults(self):
        """Trusts the operator's authorities, or those of the variables that OpenSSL reads. A
        variable of the host machine names no file of the guest, and has no effect."""
        file, folder = os.environ.get(_FILE_VARIABLE), os.environ.get(_FOLDER_VARIABLE)
        has_file, has_folder = bool(file) and os.path.isfile(file), bool(folder) and os.path.isdir(folder)
        if has_file:
            self.load_file(file)
        if has_folder:
            self.load_folder(folder)
        if not has_file and not has_folder:
            self.has_defaults = True

    def load_file(self, path):
        """Trusts the certificates of a file in PEM. Raises SSLError for a file without any."""
        name = os.fsdecode(path)
        if name.endswith(_PUBLIC_LISTS):
            self.has_defaults = True
            return
        with open(path, encoding="latin-1") as file:
            if not self._add_text(file.read()):
                text = "no certificate or crl found"
                raise library_error(text, 136, "X509")

    def load_folder(self, path):
        """Trusts the certificates of the files in a folder, as far as these can be read."""
        try:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            try:
                with open(entry.path, encoding="latin-1") as file:
                    self._add_text(file.read())
            except (OSError, SSLError):
                continue

    def load_data(self, data):
        """Trusts certificates in PEM (a text) or in DER (bytes)."""
        if isinstance(data, str):
            data.encode("ascii")
            if not data:
                raise ValueError("Empty certificate data")
            if not self._add_text(data):
                text = "no start line: cadata does not contain a certificate"
                raise library_error("no start line", 1, "PEM", text)
            return
        if not data:
            raise ValueError("Empty certificate data")
        try:
            elements = der.read_all(bytes(data))
            for element in elements:
                self._add(Certificate(element.whole))
        except der.DerError:
            text = "not enough data: cadata does not contain a certificate"
            raise library_error("not enough data", 1, "ASN1", text) from None

    def _add_text(self, text):
        """Adds the certificates and lists of a text. Returns whether there are any."""
        blocks, lists = blocks_of(text), blocks_of(text, _LIST_LABEL)
        for block in blocks:
            try:
                self._add(Certificate(block))
            except der.DerError:
                # The edge process ignores the certificate too.
                continue
        self._lists.update((block, to_pem(block, _LIST_LABEL)) for block in lists)
        return bool(blocks or lists)

    def _add(self, certificate):
        self._certificates[certificate.der] = certificate

    def settings(self, uses_lists):
        """Returns the settings of a session for these authorities."""
        texts = [certificate.public_bytes() for certificate in self._certificates.values()]
        settings = {"moreCa" if self.has_defaults else "ca": texts}
        if uses_lists:
            settings["crl"] = list(self._lists.values())
        return settings

    def certificates(self, ask):
        """Returns all certificates. `ask` sends a request to the edge process."""
        own = list(self._certificates.values())
        if not self.has_defaults:
            return own
        listed = [Certificate(bytes.fromhex(text)) for text in ask({"type": "roots"})["roots"]]
        return list(dict.fromkeys(listed + own))

    def chain_of(self, certificate):
        """Returns the issuers of a certificate among the program's own authorities."""
        rest, found = list(self._certificates.values()), []
        while not certificate.is_self_issued:
            issuer = next((one for one in rest if certificate.names_issuer(one)), None)
            if issuer is None:
                break
            rest.remove(issuer)
            found.append(issuer)
            certificate = issuer
        return found

    @property
    def list_count(self):
        """The number of lists of revoked certificates."""
        return len(self._lists)
