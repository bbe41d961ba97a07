"""An image processor that processes each picture once: an LRU cache of processed pixels, by picture hash."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

HASH = "ludens_hash"
"""The key in `Image.info` with a picture's hash."""


class CachedImageProcessor:
    """Wraps the image processor of a transformers processor; everything but the call is passed through.

    Pictures are processed one by one and joined. That is known to be right for two layouts: patches with
    `image_grid_thw` (Qwen-VL and relatives), and one tensor of equal shape per picture (LLaVA and
    relatives). With any other layout the wrapped processor gets all pictures, uncached.

    Args:
        inner: The image processor.
        limit: Most bytes of processed pixels in the cache; the least recently used are dropped.
    """

    def __init__(self, inner: Any, limit: int) -> None:
        self._inner, self._limit = inner, limit
        self._features: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._bytes = 0
        self._known_layout = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, images: Any, **options: Any) -> Any:
        pictures = list(_flat(images))
        if self._known_layout and all(HASH in picture.info for picture in pictures):
            features = [self._process(picture, options) for picture in pictures]
            self._known_layout = all(map(_known_layout, features))
            if self._known_layout and len({part["pixel_values"].shape[1:] for part in features}) == 1:
                return _join(features)
        return self._inner(images, **options)

    def _process(self, picture: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        key = picture.info[HASH]
        if key in self._features:
            self._features.move_to_end(key)
            return self._features[key]
        features: Mapping[str, Any] = dict(self._inner([picture], **options))
        if _known_layout(features):
            self._features[key] = features
            self._bytes += _size(features)
            while self._bytes > self._limit:
                self._bytes -= _size(self._features.popitem(last=False)[1])
        return features


def _flat(images: Any) -> Iterator[Any]:
    if isinstance(images, list | tuple):
        for image in images:
            yield from _flat(image)
    else:
        yield images


def _known_layout(features: Mapping[str, Any]) -> bool:
    dimensions = getattr(features.get("pixel_values"), "ndim", 0)
    return (set(features), dimensions) in (({"pixel_values", "image_grid_thw"}, 2), ({"pixel_values"}, 4))


def _join(features: Sequence[Mapping[str, Any]]) -> Any:
    import torch
    from transformers import BatchFeature

    return BatchFeature({name: torch.cat([part[name] for part in features]) for name in features[0]})


def _size(features: Mapping[str, Any]) -> int:
    return sum(tensor.element_size() * tensor.nelement() for tensor in features.values())
