"""Templates that are compiled to Python and rendered, with escapes and joined texts."""

import html
import re

TEMPLATE = "<table>{% for row in rows %}<tr>{% for cell in row %}<td>{{ cell }}</td>{% end %}</tr>{% end %}</table>"
ROWS = [[f"<{row}&{column}>" for column in range(20)] for row in range(80)]


def compiled(template):
    lines, depth = ["def render(rows, escape, join):", "    out = []"], 1
    for part in re.split(r"({%.*?%}|{{.*?}})", template):
        indent = "    " * depth
        if part.startswith("{{"):
            lines.append(f"{indent}out.append(escape({part[2:-2].strip()}))")
        elif part.startswith("{%"):
            statement = part[2:-2].strip()
            depth += -1 if statement == "end" else 1
            if statement != "end":
                lines.append(f"{indent}{statement}:")
        elif part:
            lines.append(f"{indent}out.append({part!r})")
    lines.append("    return join(out)")
    names = {}
    exec("\n".join(lines), names)
    return names["render"]


def run():
    total = 0
    for _ in range(25):
        total += len(compiled(TEMPLATE)(ROWS, html.escape, "".join))
    return total
