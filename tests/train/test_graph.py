"""CUDA graphs of the small model say what it says without them."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch", reason="the extra 'train' is not installed")

from ludens.train.nano.inputs import Vocabulary  # noqa: E402
from ludens.train.nano.network import no_collection  # noqa: E402
from ludens.train.nano.policy import NanoPolicy  # noqa: E402
from ludens.train.nano.weights import NanoSize  # noqa: E402
from tests.support.nano import questions  # noqa: E402

WORDS = ["<pad>", "<end>", "<unknown>", *(f"{x}{y}:" for x in range(10) for y in range(10)), *"abcdefgh"]


@pytest.mark.cuda
def test_graphs_change_nothing() -> None:
    size = NanoSize(width=64, heads=2, encoder=1, decoder=2, side=64, longest=64)
    policy = NanoPolicy(size, Vocabulary(WORDS), max_tokens=24, device="cuda", temperature=0.0)
    policy.network.eval()
    prompts = [[3 + (7 * row + place) % 100 for place in range(4 + row % 9)] for row in range(32)]
    replies = []
    for graphs in (policy._graphs, None):
        policy._graphs = graphs
        # Other numbers of rows reuse the memory of earlier graphs.
        few, many = (policy.sample(questions(prompts[:count], [()] * count)) for count in (8, 32))
        replies.append([record.completion_ids for record in (*few, *many)])
    assert replies[0] == replies[1]


@pytest.mark.parametrize("enabled", [True, False])
def test_no_garbage_is_collected_while_a_graph_is_captured(enabled: bool) -> None:
    """A graph in a reference cycle may be freed at any time, which ends a capture."""
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        with no_collection():
            assert not gc.isenabled()
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if was else gc.disable)()


@pytest.mark.cuda
def test_graphs_are_captured_beside_an_update() -> None:
    """torch has 32 streams of a priority: captures in turn reach that of an update in another thread."""
    from concurrent.futures import ThreadPoolExecutor

    from ludens.train.nano.network import Graphs

    updates, ended = torch.cuda.Stream(), list[bool]()

    def update() -> float:
        total = torch.zeros(256, device="cuda")
        with torch.cuda.stream(updates):
            while not ended:
                total += torch.ones(256).to("cuda")
                float(total.sum())
        return float(total.sum())

    value, graphs = torch.zeros(8, device="cuda"), Graphs()
    with ThreadPoolExecutor(1) as thread:
        going = thread.submit(update)
        for _ in range(100):
            graphs.capture(lambda: value.add_(1)).replay()  # type: ignore[arg-type, return-value]
        ended.append(True)
        assert going.result() > 0
    assert value.tolist() == [100.0] * 8


def test_updates_and_captures_have_streams_of_other_priorities(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same without a GPU: what is asked of torch."""
    from ludens.train import beside
    from ludens.train.nano import network

    asked = list[int]()

    def stream(priority: int = 0) -> None:
        asked.append(priority)
        raise RuntimeError("no GPU")

    monkeypatch.setattr(torch.cuda, "Stream", stream)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", object)
    with pytest.raises(RuntimeError, match="no GPU"):
        beside.SideThread(torch.device("cuda"))
    with pytest.raises(RuntimeError, match="no GPU"):
        network.Graphs().capture(lambda: None)
    assert asked == [0, network.CAPTURES] != [0, 0]
