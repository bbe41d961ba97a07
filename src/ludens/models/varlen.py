"""Attention of vision towers in one kernel: all windows of all pictures, packed (`varlen`, CUDA only).

Vision towers of the Qwen-VL family attend within windows of unlike lengths. Without flash-attn transformers
calls attention once per window, which takes most of the tower's time. torch has a kernel for packed sequences
since 2.10, for bfloat16 and float16 on CUDA; everywhere else the windows are computed one by one, as before.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

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

    Args:
        module: The attention layer; not used.
        query: (1, heads, tokens, dimension); key and value alike.
        key: See query.
        value: See query.
        attention_mask: Not used: every token sees its whole window.
        cu_seq_lens_q: Bounds of the windows: 0, then the end of each.
        max_length_q: Tokens in the longest window, where known.
        scaling: Of the scores; by default one over the root of the dimension.
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
