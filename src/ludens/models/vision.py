"""Vision of local models: pixels and features of a picture computed once, and attention of vision towers in
one kernel."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import BoundArguments, signature
from logging import getLogger
from typing import Any, Generic, TypeVar

T = TypeVar("T")

HASH = "ludens_hash"
"""The key in `Image.info` with a picture's hash."""


class _Latest(Generic[T]):
    """Values by the hash of a picture, up to a number of bytes; the least recently used are dropped."""

    def __init__(self, limit: int, size: Callable[[T], int]) -> None:
        self.limit, self._size = limit, size
        self.clear()

    def clear(self) -> None:
        self.values: OrderedDict[str, T] = OrderedDict()
        self.bytes = 0

    def get(self, key: str) -> T | None:
        if key in self.values:
            self.values.move_to_end(key)
        return self.values.get(key)

    def add(self, key: str, value: T) -> None:
        if key not in self.values:
            self.bytes += self._size(value)
        self.values[key] = value
        while self.bytes > self.limit:
            self.bytes -= self._size(self.values.popitem(last=False)[1])


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
        self._inner = inner
        self._features = _Latest[Mapping[str, Any]](limit, _size)
        self._known_layout = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __call__(self, images: Any, **options: Any) -> Any:
        pictures = list(_flat(images))
        if self._known_layout and all(HASH in picture.info for picture in pictures):
            features = [self._process(picture, options) for picture in pictures]
            self._known_layout = all(map(_known_layout, features))
            if self._known_layout and len({part["pixel_values"].shape[1:] for part in features}) == 1:
                return join_pictures(features)
        return self._inner(images, **options)

    def of(self, picture: Any) -> Mapping[str, Any] | None:
        """What the model is fed of one picture, where its layout is known."""
        features = self._process(picture, {"return_tensors": "pt"})
        return features if _known_layout(features) else None

    def _process(self, picture: Any, options: Mapping[str, Any]) -> Mapping[str, Any]:
        key = picture.info[HASH]
        features = self._features.get(key)
        if features is None:
            features = dict(self._inner([picture], **options))
            if _known_layout(features):
                self._features.add(key, features)
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


def join_pictures(features: Sequence[Mapping[str, Any]]) -> Any:
    """What the model is fed of several pictures."""
    import torch
    from transformers import BatchFeature

    return BatchFeature({name: torch.cat([part[name] for part in features]) for name in features[0]})


def _bytes(tensor: Any) -> int:
    size: int = tensor.element_size() * tensor.nelement()
    return size


def _size(features: Mapping[str, Any]) -> int:
    return sum(map(_bytes, features.values()))


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
        self.cache = _Latest[Any](limit, _bytes)
        self._layout_known = True
        self.computed = 0

    def clear(self) -> None:
        self.cache.clear()

    @contextmanager
    def reuse(self, model: Any, pictures: Sequence[str]) -> Iterator[None]:
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
        def answer(*arguments: Any, **keywords: Any) -> Any:
            try:
                return self._answer(original, pictures, signature(original).bind(*arguments, **keywords))
            except UnknownLayout:
                self._give_up(type(model).__name__)
                return original(*arguments, **keywords)

        setattr(inner, _METHOD, answer)
        try:
            yield
        finally:
            delattr(inner, _METHOD)

    def _answer(self, original: Callable[..., Any], pictures: Sequence[str], bound: BoundArguments) -> Any:
        import torch
        from transformers.modeling_outputs import BaseModelOutputWithPooling

        arguments = _by_name(bound)
        pixels, grids = arguments.get("pixel_values"), arguments.get("image_grid_thw")
        parts = _pixels_of_each(pixels, grids)
        if len(parts) != len(pictures):
            raise UnknownLayout
        features = {name: self.cache.get(name) for name in pictures}
        places_by_name = {name: place for place, name in enumerate(pictures) if features[name] is None}
        if places_by_name:
            places = list(places_by_name.values())
            arguments["pixel_values"] = torch.cat([parts[place] for place in places])
            if grids is not None:
                arguments["image_grid_thw"] = grids[places]
            with torch.no_grad():
                output = original(**arguments)
            features.update(zip(places_by_name, _features_of_each(output, len(places)), strict=True))
            self.computed += len(places)
        for name, part in features.items():
            self.cache.add(name, part)
        return BaseModelOutputWithPooling(pooler_output=tuple(features[name] for name in pictures))

    def _give_up(self, name: str) -> None:
        if self._layout_known:
            log.warning("%s: picture features are computed in every pass: unknown layout", name)
        self._layout_known = False


def _by_name(bound: BoundArguments) -> dict[str, Any]:
    keywords = dict(bound.arguments)
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            keywords |= keywords.pop(name, {})
    return keywords


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


NAME = "ludens_varlen_flash"
"""transformers passes the bounds of the windows to implementations with "flash" in their names."""


def use_varlen(model: Any, anywhere: bool = False) -> bool:
    """Switch the vision tower of a model to packed attention; returns whether it has one that can.

    Only towers whose attention takes `cu_seqlens` are changed; the language model never is.

    Args:
        model: A transformers model on its device.
        anywhere: Whether to switch on devices without the kernel too, where nothing is gained.
    """
    from transformers import AttentionInterface

    if not anywhere and not (model.device.type == "cuda" and _kernel() is not None):
        return False
    AttentionInterface.register(NAME, varlen_attention)
    takes_windows: dict[type, bool] = {}
    switched = False
    for module in model.modules():
        kind = type(module)
        if kind not in takes_windows:
            takes_windows[kind] = "cu_seqlens" in signature(kind.forward).parameters
        if takes_windows[kind] and hasattr(module, "num_heads") and hasattr(module, "config"):
            module.config._attn_implementation = NAME
            switched = True
    return switched


def varlen_attention(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any = None,
    *,
    cu_seq_lens_q: Any,
    max_length_q: Any = None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Any, None]:
    """Attention within windows, in the layout of transformers' attention functions.

    Query, key and value are (1, heads, tokens, dimension); every token sees its whole window. The windows end
    where `cu_seq_lens_q` says, which begins with 0.
    """
    import torch

    kernel = _kernel()
    natural = query.shape[-1] ** -0.5
    if kernel is None or not query.is_cuda or query.dtype not in (torch.bfloat16, torch.float16):
        return _each_window(query, key, value, cu_seq_lens_q, scaling), None
    if scaling is not None and scaling != natural:
        query = query * (scaling / natural)
    bounds = cu_seq_lens_q.int()
    longest = int((bounds[1:] - bounds[:-1]).max() if max_length_q is None else max_length_q)
    packed = [tensor.squeeze(0).transpose(0, 1).contiguous() for tensor in (query, key, value)]
    return kernel(*packed, bounds, bounds, longest, longest).unsqueeze(0), None


def _each_window(query: Any, key: Any, value: Any, bounds: Any, scaling: float | None) -> Any:
    import torch

    lengths = (bounds[1:] - bounds[:-1]).tolist()
    windows = zip(*(tensor.split(lengths, dim=2) for tensor in (query, key, value)), strict=True)
    attend = torch.nn.functional.scaled_dot_product_attention
    return torch.cat([attend(q, k, v, scale=scaling) for q, k, v in windows], dim=2).transpose(1, 2)


def _kernel() -> Any:
    try:
        from torch.nn.attention.varlen import varlen_attn
    except ImportError:
        return None
    return varlen_attn
