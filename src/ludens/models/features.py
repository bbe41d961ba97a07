"""Features of pictures computed once while the vision tower does not change, by picture hash.

The model asks its method `get_image_features` for what it puts in the place of picture tokens. Inside
`PictureFeatures.known` that method answers from memory; embedding, positions and everything else stay the
model's own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import BoundArguments, signature
from logging import getLogger
from typing import Any

log = getLogger("ludens.models")

_METHOD = "get_image_features"
_FIELDS = {"last_hidden_state", "pooler_output", "hidden_states", "attentions"}


class UnknownLayout(Exception):
    """Pixels or features cannot be told apart by picture."""


class PictureFeatures:
    """An LRU cache of the features of pictures.

    Two layouts are known: patches of all pictures in a row with `image_grid_thw` (Qwen-VL and relatives), and
    one tensor of equal shape per picture (LLaVA and relatives). With any other layout the features are
    computed every time, and a warning says so once.

    Args:
        limit: Most bytes in the cache; the least recently used are dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._known: OrderedDict[str, Any] = OrderedDict()
        self._bytes = 0
        self._layout_known = True
        self.computed = 0
        """Pictures whose features were computed."""

    def clear(self) -> None:
        """Forget everything, because the weights changed."""
        self._known.clear()
        self._bytes = 0

    @contextmanager
    def known(self, model: Any, pictures: Sequence[str]) -> Iterator[None]:
        """Answer the model's next question for features from memory, as far as possible.

        Args:
            model: A transformers model for conditional generation, without wrappers.
            pictures: Hashes of the pictures in the next forward pass, in the order of their pixels.
        """
        inner = model.model
        original = getattr(inner, _METHOD, None)
        if original is None:
            self._give_up(type(model).__name__)
        if original is None or not pictures or not self._layout_known:
            yield
            return

        # `generate` reads the parameters of the method.
        @wraps(original)
        def answer(*arguments: Any, **named: Any) -> Any:
            try:
                return self._answer(original, pictures, signature(original).bind(*arguments, **named))
            except UnknownLayout:
                self._give_up(type(model).__name__)
                return original(*arguments, **named)

        setattr(inner, _METHOD, answer)
        try:
            yield
        finally:
            delattr(inner, _METHOD)

    def _answer(self, original: Callable[..., Any], pictures: Sequence[str], bound: BoundArguments) -> Any:
        import torch
        from transformers.modeling_outputs import BaseModelOutputWithPooling

        given = _by_name(bound)
        pixels, grids = given.get("pixel_values"), given.get("image_grid_thw")
        parts = _pixels_of_each(pixels, grids)
        if len(parts) != len(pictures):
            raise UnknownLayout
        found = {name: self._known[name] for name in pictures if name in self._known}
        missing = {name: place for place, name in enumerate(pictures) if name not in found}
        if missing:
            places = list(missing.values())
            given["pixel_values"] = torch.cat([parts[place] for place in places])
            if grids is not None:
                given["image_grid_thw"] = grids[places]
            with torch.no_grad():
                output = original(**given)
            found.update(zip(missing, _features_of_each(output, len(places)), strict=True))
            self.computed += len(places)
        for name, features in found.items():
            self._keep(name, features)
        return BaseModelOutputWithPooling(pooler_output=tuple(found[name] for name in pictures))

    def _keep(self, name: str, features: Any) -> None:
        if name not in self._known:
            self._bytes += features.element_size() * features.nelement()
        self._known[name] = features
        self._known.move_to_end(name)
        while self._bytes > self._limit:
            _, dropped = self._known.popitem(last=False)
            self._bytes -= dropped.element_size() * dropped.nelement()

    def _give_up(self, name: str) -> None:
        if self._layout_known:
            log.warning("%s: picture features are computed in every pass: unknown layout", name)
        self._layout_known = False


def _by_name(bound: BoundArguments) -> dict[str, Any]:
    """Arguments by name, those beyond the parameters too."""
    named = dict(bound.arguments)
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            named |= named.pop(name, {})
    return named


def _pixels_of_each(pixels: Any, grids: Any) -> Sequence[Any]:
    if pixels is None:
        raise UnknownLayout
    if grids is not None and pixels.ndim == 2:
        parts: Sequence[Any] = pixels.split(grids.prod(-1).tolist())
    elif grids is None and pixels.ndim == 4:
        parts = pixels.split(1)
    else:
        raise UnknownLayout
    return parts


def _features_of_each(output: Any, count: int) -> list[Any]:
    """One tensor per picture. Features of several layers (Qwen3-VL) are not known."""
    features = getattr(output, "pooler_output", None)
    if features is None or len(features) != count:
        raise UnknownLayout
    if any(value is not None and name not in _FIELDS for name, value in output.items()):
        raise UnknownLayout
    # Copies: parts of one large tensor would keep it alive as a whole.
    return [part.detach().clone() for part in features]
