"""`ludens bench draw`: images per second of one core."""

from __future__ import annotations

from collections.abc import Iterator

from ludens.bench import Row

TARGETS = {"zlib": 500.0, "zlib, a game": None, "isal": 1200.0, "isal, a game": None}


def rows(seconds: float) -> Iterator[Row]:
    """15x15 boards with stones and labels at 512x512, drawn, encoded, base64'd, per second of a core."""
    from ludens.draw.bench import measure

    measured = {str(row["name"]): float(row["images_per_second"]) for row in measure(seconds)}
    pillow = measured["pillow"]
    for name, target in TARGETS.items():
        note = "" if name in measured else "pip install 'ludens[fast]'"
        yield Row(f"Ludens, {name}", measured.get(name), "images/s", target, note=note)
    best = max(measured.get("isal", 0.0), measured["zlib"])
    yield Row("plain Pillow RGB", pillow, "images/s", ratio=best / pillow)
