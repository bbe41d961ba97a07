"""Packs: what is written is read again, every change is noticed, and replaying refutes what was made up."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from itertools import cycle
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from unittest.mock import patch

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given
from hypothesis import strategies as st

from ludens.agents import agent
from ludens.agents.vlm import FILTERED
from ludens.concurrent import play_sync
from ludens.core import policy
from ludens.core.agent import Reply
from ludens.core.config import PlayConfig
from ludens.core.episode import Episode
from ludens.core.errors import BadFile, ReplayMismatch, Unreadable
from ludens.core.registry import make
from ludens.run import pack as packs
from ludens.run.pack import BadPack, Pack, read_keys, read_signer, unpack
from ludens.run.plan import Plan
from ludens.run.proof import PackProof, measure, pack_run, verify_pack
from ludens.run.reenact import chooses_again, reenact
from ludens.run.rows import EPISODES
from ludens.run.store import FINISHED, read_plan
from ludens.run.trust import check_packed
from tests.support.forgery import Forgery
from tests.support.players import Scripted, Slow
from tests.support.probes import make_probes, watched
from tests.support.reported import make_run

ENTRANTS = {"seer": "fake/seer", "rude": "fake/rude?memory=last", "random": "bot/random"}
ENGINE = "bot/uci?engine=/bin/sh"
TURN, LOOK = "rude:turns:0:0", "rude:see:1:0"


@pytest.fixture(autouse=True)
def _nothing_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "_confirmed", set())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("packs")


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    return make_run(folder / "run", ENTRANTS, limit=2)


@pytest.fixture(scope="module")
def key(folder: Path) -> Path:
    return write_key(folder / "key.pem", 1)


def write_key(file: Path, number: int) -> Path:
    private = Ed25519PrivateKey.from_private_bytes(bytes([number] * 32))
    file.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file


@pytest.fixture(scope="module")
def packed(run: Path, folder: Path) -> Path:
    pack_run(run, folder / "plain.ludens", workers=0)
    return folder / "plain.ludens"


@pytest.fixture(scope="module")
def signed(run: Path, folder: Path, key: Path) -> Path:
    pack_run(run, folder / "signed.ludens", key=key, workers=0)
    return folder / "signed.ludens"


def check(file: Path, **options: object) -> PackProof:
    with TemporaryDirectory() as there:
        return verify_pack(file, Path(there), workers=0, **options)  # type: ignore[arg-type]


def unpack_bytes(data: bytes, file: Path) -> Pack:
    file.write_bytes(data)
    with TemporaryDirectory() as there:
        return unpack(file, Path(there))


def test_a_pack_proves_a_run(run: Path, packed: Path) -> None:
    proof = check(packed)
    assert (proof.failures, proof.ok) == ([], True)
    assert proof.pack.plan == read_plan(run)
    assert proof.pack.keys == [job.key for job in read_plan(run).jobs]
    assert proof.pack.voids == 1
    assert list(proof.proven) == ["rules", "pictures", "prompts", "parsing", "bots", "scores", "completeness"]
    assert proof.bots["bot/random"] > 20
    trusted = " ".join(proof.trusted)
    for word in ("fake/seer", "fake/rude", "from several attempts", "1 void episode", "not signed", "seeds"):
        assert word in trusted
    assert "bot/random" not in trusted


def test_a_pack_of_the_same_run_is_the_same(run: Path, packed: Path, tmp_path: Path) -> None:
    pack_run(run, tmp_path / "again.ludens", workers=0)
    assert (tmp_path / "again.ludens").read_bytes() == packed.read_bytes()


def test_workers_prove_the_same(packed: Path, tmp_path: Path) -> None:
    alone = check(packed)
    together = verify_pack(packed, tmp_path, workers=2)
    assert (together.proven, together.trusted, together.failures) == (alone.proven, alone.trusted, [])


@pytest.mark.parametrize("kind", ["plain", "signed"])
def test_one_changed_byte_anywhere_is_noticed(
    kind: str, packed: Path, signed: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = (packed if kind == "plain" else signed).read_bytes()
    file = tmp_path_factory.mktemp("changed") / "changed.ludens"
    assert unpack_bytes(data, file).digest in data.decode()

    @given(st.integers(0, len(data) - 1), st.integers(1, 255))
    def change(place: int, bits: int) -> None:
        changed = bytearray(data)
        changed[place] ^= bits
        with pytest.raises(BadPack):
            unpack_bytes(bytes(changed), file)

    change()
    with pytest.raises(BadPack):  # a hexadecimal digit of the signature or the seal in upper case
        unpack_bytes(data[:-20] + data[-20:].upper(), file)


@given(part=st.floats(0, 1, exclude_max=True), kept=st.integers(0, 3))
def test_a_file_that_was_cut_off_is_noticed(signed: Path, part: float, kept: int) -> None:
    data = signed.read_bytes()
    lines = data.splitlines(keepends=True)
    for cut in (
        data[: int(part * len(data))],
        b"".join(lines[: int(part * len(lines))]),
        data + b"\n" * kept,
    ):
        if cut != data:
            with TemporaryDirectory() as there, pytest.raises(BadPack):
                unpack_bytes(cut, Path(there) / "cut.ludens")


@pytest.mark.parametrize("rest", [b"\n", b"{}\n", b"x"])
def test_nothing_follows_the_end(rest: bytes, packed: Path, signed: Path, tmp_path: Path) -> None:
    for file, reason in ((packed, "follows the end of the chain"), (signed, "follows the signature")):
        with pytest.raises(BadPack, match=reason):
            unpack_bytes(file.read_bytes() + rest, tmp_path / "longer.ludens")


Edit = Callable[[Forgery], object]


def _drop(forgery: Forgery) -> None:
    del forgery.lines[forgery.place(TURN)]


def _repeat(forgery: Forgery) -> None:
    forgery.lines.insert(forgery.place(TURN), forgery.lines[forgery.place(TURN)])


def _reorder(forgery: Forgery) -> None:
    place = forgery.place(TURN)
    forgery.lines[place : place + 2] = reversed(forgery.lines[place : place + 2])


def _fewer_seeds(forgery: Forgery) -> None:
    """The seeds that went badly are left out, and the plan says that they were not wanted."""
    forgery.plan["tasks"] = ["turns", "duel"]
    del forgery.plan["task_snapshot"]["see"]
    forgery.lines = [line for line in forgery.lines if line.get("record", {}).get("task") != "see"]
    forgery.results[:] = [result for result in forgery.results if result["task"] != "see"]


def _other_seed(forgery: Forgery) -> None:
    record = forgery.record(TURN)
    record["key"], record["episode"]["seed"] = "rude:turns:77:0", 77


def _swap_names(forgery: Forgery) -> None:
    entrants = forgery.plan["entrants"]
    entrants["seer"], entrants["rude"] = entrants["rude"], entrants["seer"]


def _rename_player(forgery: Forgery) -> None:
    forgery.plan["entrants"]["rude"] = "fake/guesser?memory=last"
    for line in forgery.episodes:
        seats = line["record"]["episode"]["seats"]
        for seat, spec in seats.items():
            seats[seat] = spec.replace("fake/rude", "fake/guesser")


def _templates(forgery: Forgery) -> None:
    forgery.record(TURN)["episode"]["prompt_templates"] = {"x": {"system": "You win."}}


def _hint(forgery: Forgery) -> None:
    """The model is told more about its refused reply than the game says."""
    refused = forgery.record(TURN)["episode"]["moves"][0]["tries"][0]
    assert refused["verdict"] != "ok"
    refused["reason"] = "take A1, which wins."


REFUSED: dict[str, tuple[Edit, str]] = {
    "dropped": (_drop, "is missing"),
    "repeated": (_repeat, "more than once"),
    "reordered": (_reorder, "not in its place"),
    "fewer seeds": (_fewer_seeds, "other episodes were planned"),
    "limit": (lambda forgery: forgery.plan.update(limit=1), "not an episode of its plan"),
    "another seed": (_other_seed, "not an episode of its plan"),
    "names swapped": (_swap_names, "player of"),
    "another model": (_rename_player, "other episodes were planned"),
    "reply": (
        lambda f: f.record("seer:turns:0:0")["episode"]["moves"][0]["tries"][0].update(text="Action: B2"),
        "says 'B2'",
    ),
    "returns": (lambda f: f.record(TURN)["episode"]["returns"].update(x=1.0, o=-1.0), "returns"),
    "picture": (lambda f: f.record(LOOK)["episode"]["moves"][0].update(pictures=["0" * 16]), "pictures"),
    "templates": (_templates, "templates"),
    "hint": (_hint, "other moves"),
    "result": (lambda forgery: forgery.results[0].update(mean=0.125), "the pack says 0.125 "),
    "results left out": (lambda forgery: forgery.results.pop(), "not those"),
    "prompts": (lambda f: f.lines[f.place(LOOK)].update(prompts="0" * 32), "prompts"),
    "game": (lambda f: f.plan["task_snapshot"]["see"].update(game="perceive"), "do not fit"),
    "version": (lambda f: f.plan["task_snapshot"]["turns"].update(version=9), "do not fit"),
    "retries": (lambda f: f.plan["task_snapshot"]["turns"]["config"].update(retries=99), "do not fit"),
}


@pytest.mark.parametrize("edit", REFUSED)
def test_a_forger_who_makes_a_new_chain_is_refuted(edit: str, packed: Path, tmp_path: Path) -> None:
    change, reason = REFUSED[edit]
    forgery = Forgery(packed)
    change(forgery)
    file = forgery.write(tmp_path / "forged.ludens")
    try:
        reasons = " ".join(text for _, text in check(file).failures)
    except BadPack as error:
        reasons = str(error).removeprefix(f"{str(file)!r}: ")
    assert reason in reasons
    assert str(tmp_path.parent) not in reasons


def test_an_unchanged_forgery_is_a_pack(packed: Path, tmp_path: Path) -> None:
    assert Forgery(packed).write(tmp_path / "same.ludens").read_bytes() == packed.read_bytes()


def _invent(forgery: Forgery, key: str, **seats: str) -> Episode:
    """Replace an episode by one of other players, under the names of those who should have played it."""
    record = forgery.record(key)
    recorded = Episode.from_json(orjson.dumps(record["episode"]))
    game = make(recorded.game, **recorded.options)
    invented = play_sync(game, {seat: agent(spec, game) for seat, spec in seats.items()}, recorded.seed)
    invented.seats, invented.sees = recorded.seats, recorded.sees
    invented.config = recorded.config
    record["episode"] = orjson.loads(invented.to_json())
    return invented


def test_a_bot_that_plays_badly_on_purpose_is_refuted(packed: Path, tmp_path: Path) -> None:
    forgery = Forgery(packed)
    key = "random:turns:0:0"
    assert forgery.record(key)["episode"]["seats"] == {"x": "bot/random", "o": "bot/random"}
    _invent(forgery, key, x="bot/minimax", o="bot/first")
    proof = check(forgery.write(tmp_path / "forged.ludens"))
    assert [name for name, _ in proof.failures] == [key]
    assert "but bot/random plays" in proof.failures[0][1]


def test_replies_that_a_model_did_not_give_must_be_trusted(packed: Path, tmp_path: Path) -> None:
    """An invented reply, with everything that follows from it: the scores follow, who said it does not."""
    forgery = Forgery(packed)
    record = forgery.record(LOOK)
    right = forgery.record("seer:see:1:0")["episode"]
    assert right["facts"]["exact"] != record["episode"]["facts"]["exact"]
    for name in ("moves", "returns", "facts"):
        record["episode"][name] = right[name]
    forgery.lines[forgery.place(LOOK)]["prompts"] = forgery.lines[forgery.place("seer:see:1:0")]["prompts"]
    (tmp_path / "run").mkdir()
    proof = verify_pack(forgery.write(tmp_path / "forged.ludens"), tmp_path / "run", workers=0)
    assert [name for name, _ in proof.failures] == ["rude, see, exact"]
    forgery.results[:] = [asdict(result) for result in measure(tmp_path / "run")]
    proof = check(forgery.write(tmp_path / "forged.ludens"))
    assert proof.ok
    assert any("fake/rude" in text and "gave these replies" in text for text in proof.trusted)


def test_the_key_of_somebody_else_is_refused(signed: Path, packed: Path, tmp_path: Path) -> None:
    ours, theirs = (Ed25519PrivateKey.from_private_bytes(bytes([n] * 32)) for n in (1, 2))
    names = {
        key.public_key().public_bytes_raw().hex(): name for name, key in (("ann", ours), ("ben", theirs))
    }
    (ann, ben), forgery = names, Forgery(signed)
    assert check(signed, keys={ann: "ann"}).submitter == "ann"
    assert f"{ann} of ann" in check(signed, keys={ann: "ann"}).proven["signature"]
    with pytest.raises(BadPack, match="foreign key"):
        check(signed, keys={ben: "ben"})
    with pytest.raises(BadPack, match="not signed"):
        check(packed, keys={ben: "ben"})
    with pytest.raises(BadPack, match="not made with the key"):
        check(forgery.write(tmp_path / "forged.ludens", theirs.sign))
    with pytest.raises(BadPack, match="signature is missing"):
        check(forgery.write(tmp_path / "forged.ludens"))
    forgery.head["key"] = ben
    assert check(forgery.write(tmp_path / "forged.ludens", theirs.sign)).pack.signed_by == ben
    with pytest.raises(BadPack, match="foreign key"):
        check(tmp_path / "forged.ludens", keys={ann: "ann"})


def test_keys_are_read(tmp_path: Path, key: Path) -> None:
    assert read_signer(key).sign(b"") == Ed25519PrivateKey.from_private_bytes(bytes([1] * 32)).sign(b"")
    (tmp_path / "no.pem").write_text("nothing")
    with pytest.raises(BadFile, match="not a private Ed25519 key"):
        read_signer(tmp_path / "no.pem")
    with pytest.raises(BadFile, match="cannot read"):
        read_signer(tmp_path / "missing.pem")
    keys = tmp_path / "keys.toml"
    keys.write_text(f'ann = "{"a" * 64}"\n"Ben B." = "{"b" * 64}"\n')
    assert read_keys(keys) == {"a" * 64: "ann", "b" * 64: "Ben B."}
    for text, reason in (
        ("ann = 3", "64 hex"),
        (f'ann = "{"A" * 64}"', "lower case"),
        (f'a = "{"a" * 64}"\nb = "{"a" * 64}"', "two names"),
        ("=", "not TOML"),
    ):
        keys.write_text(text)
        with pytest.raises(BadFile, match=reason):
            read_keys(keys)


def test_sizes_are_bounded(packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = packed.stat().st_size
    for name, limit, reason in (
        ("MAX_BYTES", size - 1, "at most"),
        ("MAX_HEAD", 100, "line 1 has more than 100"),
        ("MAX_LINE", 200, "line 2 has more than 200"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(packs, name, limit)
            with pytest.raises(BadPack, match=reason):
                check(packed)
    os.mkfifo(tmp_path / "pipe.ludens")
    with pytest.raises(BadPack, match="not a file"):
        check(tmp_path / "pipe.ludens")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "cut off"),
        ("{}\n", "not a pack"),
        ("\x00\xff", "cut off"),
        ("[" * 100_000 + "\n", "not a pack"),
    ],
)
def test_other_files_are_refused(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "other.ludens").write_text(text)
    with pytest.raises(BadPack, match=reason):
        check(tmp_path / "other.ludens")


def test_a_plan_cannot_make_the_verifier_list_millions(packed: Path, tmp_path: Path) -> None:
    forgery = Forgery(packed)
    forgery.plan.update(samples=10_000)
    with pytest.raises(BadPack, match="180,000 episodes are planned"):
        check(forgery.write(tmp_path / "forged.ludens"))


def test_nothing_that_a_pack_names_is_opened(packed: Path, tmp_path: Path) -> None:
    study = '[{{"name":"a","game":"{}","seats":{{"x":"participant","o":"bot/random"}},"episodes":1}}]'
    edits: list[Callable[[Forgery, str], object]] = [
        lambda forgery, probe: forgery.plan.update(suite=probe),
        lambda forgery, probe: forgery.plan.update(suite=f"play?game={probe}"),
        lambda forgery, probe: forgery.plan.update(suite=f"viki?data={probe}"),
        lambda forgery, probe: forgery.plan.update(suite=f"study?tasks={study.format(probe)}"),
        lambda forgery, probe: forgery.plan.update(templates=probe),
        lambda forgery, probe: forgery.plan.update(template_hashes={probe: "0"}),
        lambda forgery, probe: forgery.plan["entrants"].update(rude=f"fake/rude?templates={probe}"),
        lambda forgery, probe: forgery.plan["entrants"].update(rude=probe),
        lambda forgery, probe: forgery.plan["seated"].update(o=probe),
        lambda forgery, probe: forgery.plan["seated"].update(o=f"human?pictures={probe}"),
        lambda forgery, probe: forgery.plan["task_snapshot"]["see"].update(game=probe),
        lambda forgery, probe: forgery.record(LOOK)["episode"].update(game=probe),
        lambda forgery, probe: forgery.record(LOOK)["episode"]["seats"].update(viewer=probe),
        lambda forgery, probe: forgery.record(LOOK)["episode"].update(theme=probe),
        lambda forgery, probe: forgery.record(LOOK).update(task=probe),
    ]
    place, *_, game, _, engine, nano, address = make_probes(tmp_path)
    probes = (place, game, engine, nano, address)
    for edit in edits:
        for probe in probes:
            forgery = Forgery(packed)
            edit(forgery, probe)
            file = forgery.write(tmp_path / "forged.ludens")
            with watched() as events:
                try:
                    proof = check(file)
                except BadFile:
                    continue
                finally:
                    assert events == set(), probe
            assert not proof.ok


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"suite": "play?game=spy?source=/etc"}, "reads /etc"),
        ({"suite": "nowhere:SUITE"}, "not registered"),
        ({"suite": "play?game=chess", "seated": {"black": "human?pictures=/etc"}}, "writes to /etc"),
        ({"suite": "play?game=chess", "seated": {"black": ENGINE}}, "starts the program /bin/sh"),
        ({"templates": "mine"}, "templates of its own"),
    ],
)
def test_a_plan_may_name_only_what_is_installed(change: dict[str, object], reason: str, run: Path) -> None:
    plan = {**orjson.loads(read_plan(run).to_json()), **change}
    with pytest.raises(BadFile, match=reason):
        check_packed(Plan.from_json(orjson.dumps(plan)))


def test_an_unfinished_run_is_not_packed(run: Path, tmp_path: Path) -> None:
    copy = Path(copytree(run, tmp_path / "run"))
    lines = (copy / EPISODES).read_bytes().splitlines(keepends=True)
    (copy / EPISODES).write_bytes(b"".join(lines[:-2]))
    (copy / FINISHED).unlink()
    with pytest.raises(BadFile, match="2 planned episodes not played yet; finish it with: ludens resume"):
        pack_run(copy, tmp_path / "mine.ludens", workers=0)
    (copy / EPISODES).write_bytes(b"".join(lines).replace(b'"x":1.0', b'"x":0.5'))
    with pytest.raises(BadFile, match="not verified"):
        pack_run(copy, tmp_path / "mine.ludens", workers=0)
    assert not list(tmp_path.glob("*.ludens*"))


@pytest.mark.parametrize(
    ("game", "players"),
    [
        ("tic_tac_toe", ["bot/alphabeta?depth=2", "bot/mcts?simulations=5&rollouts=1"]),
        ("coin_dilemma?horizon=4", ["bot/best", "bot/random"]),
        ("comma/wire", ["bot/best"]),
        ("spy", ["bot/blunt", "bot/random"]),
        ("hanabi", ["bot/best", "bot/random"]),
    ],
)
def test_bots_choose_the_same_moves_again(game: str, players: list[str]) -> None:
    made = make(game)
    specs = dict(zip(made.seats, cycle(players), strict=False))
    episode = play_sync(made, {seat: agent(spec, made) for seat, spec in specs.items()}, 3)
    again = reenact(episode)
    assert sum(again.bots.values()) == len(episode.moves)
    assert (again.recorded_players, again.prompt_count) == (frozenset(), 0)


def test_late_filtered_refused_and_direct_replies_are_repeated() -> None:
    filtered = Unreadable(FILTERED)
    filtered.reply = Reply("I cannot help with that.", finish="filtered")
    game = make("tic_tac_toe")
    says = [filtered, "Action: B2", "A1 or A2", Reply("I take A1", "A1"), Reply("Z9", "Z9"), "no", "C3", "C1"]
    players = {"x": Scripted(says), "o": Slow(["Action: A3", "x", "Action: B1"], naps=(60.0, 0.0))}
    config = PlayConfig(seconds=0.05, fallback="first")
    episode = play_sync(game, players, 0, config=config)
    verdicts = {tried.verdict for move in episode.moves for tried in move.tries}
    assert verdicts >= {"late", "unreadable", "illegal", "ok"}
    assert any(tried.finish == "filtered" for move in episode.moves for tried in move.tries)
    again = reenact(episode)
    assert (again.recorded_players, again.bots) == ({"scripted", "slow"}, {})
    for move in episode.moves:
        for tried in move.tries:
            told = tried.reason
            tried.reason += " Take B2."
            with pytest.raises(ReplayMismatch, match="other moves"):
                reenact(episode)
            tried.reason = told


@pytest.mark.parametrize(
    ("spec", "game", "again"),
    [
        ("bot/minimax", "tic_tac_toe", True),
        ("bot/best", "comma/wire", True),
        ("bot/uci", "chess", False),  # it would start a program
        ("bot/no-such-bot", "tic_tac_toe", False),
        ("human", "tic_tac_toe", False),
        ("nano", "tic_tac_toe", False),
    ],
)
def test_only_bots_that_reach_nothing_outside_choose_again(spec: str, game: str, again: bool) -> None:
    with patch("ludens.games.chess.find_engine", side_effect=AssertionError("a program is started")):
        assert chooses_again(spec, make(game)) is again
