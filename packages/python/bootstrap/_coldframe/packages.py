"""Makes installed packages available to `import`.

The folder of packages that `site` names is in the read-only library. Packages are installed in
`FOLDER` instead, which does not exist in the image build. Next: start.
"""

import sys

FOLDER = "/usr/local/lib/python3.13/site-packages"

sys.path[:] = [folder for folder in sys.path if not folder.endswith("/site-packages")] + [FOLDER]


def renew():
    """Forgets that the image build did not find the folder."""
    sys.path_importer_cache.pop(FOLDER, None)
