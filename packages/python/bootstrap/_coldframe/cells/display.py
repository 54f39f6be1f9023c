"""The representations of a value by MIME type. Next: `figures.py` and `tables.py`."""

import base64
import json
import pprint
import sys

from . import tables

# The methods of rich representations, as in IPython.
_METHODS = {
    "text/html": "_repr_html_",
    "text/markdown": "_repr_markdown_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "application/pdf": "_repr_pdf_",
    "text/latex": "_repr_latex_",
    "application/json": "_repr_json_",
    "application/javascript": "_repr_javascript_",
}

# The longest plain text of a container that is set in lines.
_WIDTH = 79


def publish(data, is_main=False):
    """Adds a bundle to the results of the running cell. Outside a cell, the function prints."""
    print(texts(data).get("text/plain", ""))


def bundle(value):
    """Returns the representations of a value. A representation that fails is left out."""
    data = {"text/plain": _plain(value)}
    if isinstance(value, type):
        return data
    whole = _call(value, "_repr_mimebundle_", include=None, exclude=None)
    if isinstance(whole, tuple):
        whole = whole[0] if whole else None
    if isinstance(whole, dict):
        data.update(whole)
    for mime, method in _METHODS.items():
        if mime in data:
            continue
        representation = _call(value, method)
        if isinstance(representation, tuple):
            representation = representation[0] if representation else None
        if representation is not None:
            data[mime] = representation
    data.update(_of_libraries(value))
    return data


def texts(data):
    """Returns the representations as texts: bytes in base64, and other values as JSON."""
    converted = {}
    for mime, value in data.items():
        if value is None:
            continue
        if isinstance(value, str):
            converted[mime] = value
        elif isinstance(value, (bytes, bytearray, memoryview)):
            converted[mime] = base64.b64encode(value).decode("ascii")
        else:
            try:
                converted[mime] = json.dumps(value, allow_nan=False, default=str)
            except (TypeError, ValueError, RecursionError):
                continue
    return converted


def _plain(value):
    try:
        if type(value) in (dict, list, tuple, set, frozenset):
            return pprint.pformat(value, width=_WIDTH, compact=True, sort_dicts=False)
        text = repr(value)
        return text if isinstance(text, str) else object.__repr__(value)
    except Exception as error:
        return f"<the representation failed: {type(error).__name__}: {error}>"


def _call(value, name, **arguments):
    try:
        method = getattr(value, name, None)
    except Exception:
        return None
    if method is None or not callable(method):
        return None
    try:
        return method(**arguments)
    except NotImplementedError:
        return None
    except Exception as error:
        print(f"{name} failed: {type(error).__name__}: {error}", file=sys.stderr)
        return None


def _of_libraries(value):
    """Returns the representations that this package makes for types of libraries.

    A type is looked up only if a program has imported its library.
    """
    data = {}
    if "pandas" in sys.modules:
        table = tables.of(value)
        if table is not None:
            data["e2b/data"] = table
    if "matplotlib.figure" in sys.modules and isinstance(value, sys.modules["matplotlib.figure"].Figure):
        from . import figures

        data.update(figures.of(value))
    return data
