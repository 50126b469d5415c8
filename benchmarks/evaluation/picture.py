"""The arms over the hops as a picture: right answers in percent, the spread as thin lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 400, 60, 30, 190, 50
# Told apart by dash and mark as well as by colour.
LOOKS = {
    "package": ("#0b6e4f", "", "package, 3,000 tokens"),
    "package_1500": ("#3a86ff", "8 3", "package, 1,500 tokens"),
    "message": ("#d1495b", "2 4", "bare message"),
    "last": ("#8d5a97", "10 3 2 3", "last 3,000 tokens"),
    "summary": ("#e09f3e", "5 5", "summary"),
    "whole": ("#555555", "1 3", "whole chat"),
}


def draw(rows: Sequence[dict[str, Any]]) -> str:
    """An SVG of what `tables.receivers` gives."""
    hops = sorted({row["hop"] for row in rows})
    body = [_axes(hops)]
    arms = [arm for arm in LOOKS if any(row["arm"] == arm for row in rows)]
    ends = _apart({arm: _y(_newest(rows, arm)["right_percent"]) for arm in arms})
    for arm in arms:
        body.append(_line([row for row in rows if row["arm"] == arm], hops, ends[arm]))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" '
        f'font-size="13"><title>Right answers by arm and hops</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        + "".join(body)
        + "</svg>\n"
    )


def _newest(rows: Sequence[dict[str, Any]], arm: str) -> dict[str, Any]:
    return max((row for row in rows if row["arm"] == arm), key=lambda row: row["hop"])


def _x(hop: int, hops: Sequence[int]) -> float:
    room = WIDTH - LEFT - RIGHT
    return LEFT + room * (hops.index(hop) + 0.5) / len(hops)


def _y(percent: float) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - percent / 100)


def _apart(ends: dict[str, float]) -> dict[str, float]:
    """Places of the names, none nearer to the next than a line of text."""
    placed: dict[str, float] = {}
    lowest = 0.0
    for arm in sorted(ends, key=lambda arm: ends[arm]):
        lowest = max(ends[arm], lowest + 17)
        placed[arm] = lowest
    return placed


def _axes(hops: Sequence[int]) -> str:
    parts = []
    for percent in range(0, 101, 20):
        y = _y(percent)
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{percent} %</text>')
    for hop in hops:
        word = "hop" if hop == 1 else "hops"
        parts.append(
            f'<text x="{_x(hop, hops)}" y="{HEIGHT - 20}" text-anchor="middle">{hop} {word}</text>'
        )
    return "".join(parts)


def _line(rows: Sequence[dict[str, Any]], hops: Sequence[int], end: float) -> str:
    colour, dash, name = LOOKS[rows[0]["arm"]]
    rows = sorted(rows, key=lambda row: row["hop"])
    points = [(_x(row["hop"], hops), _y(row["right_percent"])) for row in rows]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    parts = [
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>'
    ]
    for (x, y), row in zip(points, rows, strict=True):
        low, high = (_y(percent) for percent in row["spread"])
        parts.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{colour}"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')
    x, y = points[-1]
    parts.append(
        f'<path d="M{x:.1f} {y:.1f}L{WIDTH - RIGHT + 6} {end:.1f}" stroke="{colour}" stroke-width=".7"/>'
    )
    parts.append(
        f'<text x="{WIDTH - RIGHT + 10}" y="{end + 4:.1f}" fill="{colour}">{escape(name)}</text>'
    )
    return "".join(parts)
