"""`ludens bench draw`: images per second of one core."""

from __future__ import annotations

from collections.abc import Iterator

from ludens.bench import Row

TARGETS = {"zlib": 500.0, "isal": 1200.0}


def rows(seconds: float) -> Iterator[Row]:
    """A 15x15 board with 60 stones and labels at 512x512, drawn, encoded, base64'd, per second of a core."""
    from ludens.draw.bench import measure

    measured = {str(row["name"]): float(row["images_per_second"]) for row in measure(seconds)}
    pillow = measured["pillow"]
    for name in ("zlib", "isal"):
        if name in measured:
            yield Row(f"Ludens, {name}", measured[name], "images/s", TARGETS[name])
        else:
            yield Row(f"Ludens, {name}", None, "images/s", TARGETS[name], note="pip install 'ludens[fast]'")
    best = max(value for name, value in measured.items() if name != "pillow")
    yield Row("plain Pillow RGB", pillow, "images/s", ratio=best / pillow)
