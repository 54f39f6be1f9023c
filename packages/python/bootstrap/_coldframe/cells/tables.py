"""The data of a pandas DataFrame, as the clients of E2B expect: a list of values for each column."""

import math
import sys


def of(value):
    """Returns the columns of a DataFrame, or `None` for another value."""
    pandas = sys.modules.get("pandas")
    frame = getattr(pandas, "DataFrame", None)
    if frame is None or not isinstance(value, frame):
        return None
    return {str(name): [_plain(cell) for cell in column.tolist()] for name, column in value.items()}


def _plain(cell):
    if cell is None or isinstance(cell, (bool, int, str)):
        return cell
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None
    if hasattr(cell, "isoformat"):
        return cell.isoformat()
    return str(cell)
