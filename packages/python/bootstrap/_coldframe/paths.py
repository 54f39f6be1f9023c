"""The folders of installed packages, which CPython's module `site` adds to `sys.path` at a start."""

import os
import site
import sys

PACKAGES = "/usr/local/lib/python3.13/site-packages"
# The folder with pip, after the folder of installed packages, which may have another pip.
BUNDLED = "/usr/lib/python3.13/bundled-packages"

sys.path.append(BUNDLED)


def add_packages():
    """Runs the files `.pth` of the packages, and adds the user's own packages."""
    # The folder does not exist in the image build, so the importer has stored that nothing is there.
    sys.path_importer_cache.pop(PACKAGES, None)
    site.ENABLE_USER_SITE = "PYTHONNOUSERSITE" not in os.environ
    site.USER_BASE = site.USER_SITE = None
    if site.ENABLE_USER_SITE:
        own = site.getusersitepackages()
        if _has_entries(own):
            sys.path.insert(sys.path.index(PACKAGES), own)
            _run_pth_files(own)
    _run_pth_files(PACKAGES)


def _has_entries(folder):
    try:
        os.stat(folder)
    except OSError:
        return False
    return True


def _run_pth_files(folder):
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    known = None
    for name in names:
        if name.endswith(".pth") and not name.startswith("."):
            known = site.addpackage(folder, name, known)
