"""Figures of matplotlib: the picture, and the data of the chart, as the clients of E2B expect.

A chart has `type`, `title` and `elements`. A figure with several axes is a `superchart`, whose
elements are charts. Charts of two axes also have labels and units, and charts of points have ticks
and scales. The module reads matplotlib's objects only through their public methods.
"""

import io
import math


def of(figure):
    """Returns the representations of a figure. A figure without axes has none."""
    if not figure.axes:
        return {}
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return {"image/png": file.getvalue(), "e2b/chart": chart_of_figure(figure)}


def chart_of_figure(figure):
    """Returns the data of all charts of a figure."""
    charts = [_chart(axes) for axes in figure.axes]
    if len(charts) == 1:
        return charts[0]
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) is not None else None
    return {"type": "superchart", "title": title or None, "elements": charts}


def _chart(axes):
    chart = {"type": "unknown", "title": axes.get_title() or None, "elements": []}
    if _boxes(axes):
        chart.update(type="box_and_whisker", elements=_boxes(axes), **_labels(axes))
    elif _wedges(axes):
        chart.update(type="pie", elements=_wedges(axes))
    elif _bars(axes):
        chart.update(type="bar", elements=_bars(axes), **_labels(axes))
    elif axes.collections and any(hasattr(part, "get_offsets") and len(part.get_offsets()) for part in axes.collections):
        chart.update(type="scatter", elements=_scatters(axes), **_labels(axes), **_ticks(axes))
    elif axes.lines:
        chart.update(type="line", elements=_lines(axes), **_labels(axes), **_ticks(axes))
    return chart


def _labels(axes):
    labels = {}
    for name, text in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())):
        label, unit = _label_and_unit(text)
        labels[f"{name}_label"] = label
        labels[f"{name}_unit"] = unit
    return labels


def _label_and_unit(text):
    """Splits `Length (cm)` into the label and the unit."""
    text = text.strip()
    if text.endswith(")") and " (" in text:
        label, _, unit = text[:-1].rpartition(" (")
        return label.strip() or None, unit.strip() or None
    return text or None, None


def _ticks(axes):
    ticks = {}
    for name, axis, scale in (("x", axes.xaxis, axes.get_xscale()), ("y", axes.yaxis, axes.get_yscale())):
        ticks[f"{name}_ticks"] = [_number(tick) for tick in axis.get_ticklocs()]
        ticks[f"{name}_tick_labels"] = [label.get_text() for label in axis.get_ticklabels()]
        converter = type(axis.converter).__name__ if getattr(axis, "converter", None) is not None else ""
        if "Date" in converter:
            scale = "datetime"
        elif "Category" in converter:
            scale = "categorical"
        ticks[f"{name}_scale"] = scale
    return ticks


def _points(pairs):
    return [[_number(x), _number(y)] for x, y in pairs]


def _number(value):
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (int, float, str)) or value is None else str(value)


def _lines(axes):
    return [
        {"label": _label(line, index), "points": _points(zip(line.get_xdata(), line.get_ydata()))}
        for index, line in enumerate(axes.lines)
    ]


def _scatters(axes):
    parts = [part for part in axes.collections if hasattr(part, "get_offsets")]
    return [{"label": _label(part, index), "points": _points(part.get_offsets())} for index, part in enumerate(parts)]


def _label(artist, index):
    label = str(artist.get_label())
    return f"Line {index}" if label.startswith("_") else label


def _bars(axes):
    bars = []
    names = [label.get_text() for label in axes.get_xticklabels()]
    for index, container in enumerate(axes.containers):
        rectangles = [part for part in container if type(part).__name__ == "Rectangle"]
        group = str(container.get_label())
        group = f"Group {index}" if group.startswith("_") else group
        for place, rectangle in enumerate(rectangles):
            is_upright = getattr(container, "orientation", "vertical") != "horizontal"
            value = rectangle.get_height() if is_upright else rectangle.get_width()
            labels = names if is_upright else [label.get_text() for label in axes.get_yticklabels()]
            label = labels[place] if place < len(labels) and labels[place] else str(place)
            bars.append({"label": label, "group": group, "value": _number(value)})
    return bars


def _wedges(axes):
    wedges = [patch for patch in axes.patches if type(patch).__name__ == "Wedge"]
    return [
        {
            "label": "" if str(wedge.get_label()).startswith("_") else str(wedge.get_label()),
            "angle": abs(_number(wedge.theta2) - _number(wedge.theta1)),
            "radius": _number(wedge.r),
        }
        for wedge in wedges
    ]


def _boxes(axes):
    """Returns the boxes of a box plot, whose boxes, whiskers, caps and medians are lines or patches.

    A box is a closed line of five points. Its whiskers and its median share its place on the axis.
    """
    boxes = []
    lines = [(list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines]
    names = [label.get_text() for label in axes.get_xticklabels()]
    for xs, ys in lines:
        if len(xs) != 5 or xs[0] != xs[-1] or ys[0] != ys[-1]:
            continue
        left, right, low, high = min(xs), max(xs), min(ys), max(ys)
        middle = (left + right) / 2
        inside = [(x, y) for x, y in lines if len(x) == 2 and left <= min(x) and max(x) <= right]
        medians = [y[0] for x, y in inside if y[0] == y[1] and low <= y[0] <= high]
        whiskers = [value for x, y in inside if x[0] == x[1] for value in y]
        outliers = [v for x, y in lines if len(x) not in (2, 5) for px, v in zip(x, y) if abs(px - middle) < 1e-9]
        place = len(boxes)
        boxes.append(
            {
                "label": names[place] if place < len(names) else str(place + 1),
                "min": _number(min(whiskers, default=low)),
                "first_quartile": _number(low),
                "median": _number(medians[0] if medians else (low + high) / 2),
                "third_quartile": _number(high),
                "max": _number(max(whiskers, default=high)),
                "outliers": [_number(value) for value in outliers],
            }
        )
    return boxes
