"""Removing the noise of path tracing: Open Image Denoise where it is installed, else an edge-stopping filter.

The filter is an à-trous wavelet transform on the light that surfaces receive: pixels are averaged with
neighbours of the same object, colour and direction whose brightness is similar.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.float32]

_TOLERANCES = (0.7, 0.45, 0.25, 0.12)
"""Relative difference in brightness that counts as noise, for steps of 1, 2, 4 and 8 pixels."""
_DARK = np.float32(0.02)
_NORMAL, _ALBEDO, _INDEX = 7, 20, 4
"""How much a difference in direction, colour and object weighs."""
_NEAR = [(dy, dx) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if dy or dx]
_RANK, _RANK_FLOOR = 6, 12
"""A pixel is compared with the neighbour of this rank in brightness, of the 24 nearest."""


def denoiser() -> str:
    """The name of the denoiser that is used: `oidn` or `filter`."""
    try:
        import pyoidn  # noqa: F401
    except (ImportError, OSError):
        return "filter"
    return "oidn"


def denoised(color: Image, albedo: Image, normal: Image, index: Image, by: str) -> Image:
    """The picture without noise.

    Args:
        color: Linear colours, shape (height, width, 3).
        albedo: Colours of the surfaces.
        normal: Directions of the surfaces.
        index: Numbers of the objects, shape (height, width).
        by: What `denoiser` returned.
    """
    return _oidn(color, albedo, normal) if by == "oidn" else _filtered(color, albedo, normal, index)


def _oidn(color: Image, albedo: Image, normal: Image) -> Image:
    import pyoidn

    images = {
        pyoidn.OIDN_IMAGE_COLOR: np.ascontiguousarray(color, np.float32),
        pyoidn.OIDN_IMAGE_ALBEDO: np.ascontiguousarray(np.clip(albedo, 0, 1), np.float32),
        pyoidn.OIDN_IMAGE_NORMAL: np.ascontiguousarray(normal, np.float32),
        pyoidn.OIDN_IMAGE_OUTPUT: np.zeros(color.shape, np.float32),
    }
    with pyoidn.Device() as device:
        device.commit()
        with pyoidn.Filter(device, "RT") as work:
            for name, data in images.items():
                work.set_image(name, data, pyoidn.OIDN_FORMAT_FLOAT3)
            work.set_bool("hdr", True)
            work.commit()
            work.execute()
        if error := device.get_error():
            raise RuntimeError(f"Open Image Denoise: {error}")
    return images[pyoidn.OIDN_IMAGE_OUTPUT]


def _filtered(color: Image, albedo: Image, normal: Image, index: Image) -> Image:
    surface = albedo + _DARK
    light = _without_sparks(color / surface, index == 0)
    guides = [*(normal * _NORMAL).transpose(2, 0, 1), *(albedo * _ALBEDO).transpose(2, 0, 1), index * _INDEX]
    for level, tolerance in enumerate(_TOLERANCES):
        step = 1 << level
        brightness = light.mean(-1)
        around = sum((_shifted(brightness, dy, dx) for dy, dx in _NEAR), brightness) / 9
        sharpness = 1 / (tolerance * around + 0.005)
        total, weights = light * np.float32(0.25), np.full(brightness.shape, 0.25, np.float32)
        for dy, dx in _NEAR:
            y, x = dy * step, dx * step
            apart = ((_shifted(brightness, y, x) - brightness) * sharpness) ** 2
            for guide in guides:
                apart += (_shifted(guide, y, x) - guide) ** 2
            weight = np.exp(-apart) * np.float32(0.0625 if dy and dx else 0.125)
            total += weight[..., None] * _shifted(light, y, x)
            weights += weight
        light = (total / weights[..., None]).astype(np.float32)
    return light * surface


def _without_sparks(light: Image, floor: npt.NDArray[np.bool_]) -> Image:
    """No pixel is much brighter than its neighbours; on the floor, where light changes slowly, even less."""
    brightness = light.mean(-1)
    height, width = brightness.shape
    padded = np.pad(brightness, 2, mode="edge")
    near = np.stack(
        [padded[y : y + height, x : x + width] for y in range(5) for x in range(5) if (y, x) != (2, 2)]
    )
    ranked = np.partition(near, (-_RANK_FLOOR, -_RANK), axis=0)
    limit = np.where(floor, ranked[-_RANK_FLOOR], ranked[-_RANK]) * 1.25 + _DARK
    result: Image = light * np.minimum(1, limit / np.maximum(brightness, 1e-6))[..., None]
    return result


def _shifted(image: Any, dy: int, dx: int) -> Any:
    """The image moved by some pixels; what comes in at an edge repeats the edge."""
    height, width = image.shape[:2]
    down, right = abs(dy), abs(dx)
    padded = np.pad(image, [(down, down), (right, right)] + [(0, 0)] * (image.ndim - 2), mode="edge")
    return padded[down - dy : down - dy + height, right - dx : right - dx + width]
