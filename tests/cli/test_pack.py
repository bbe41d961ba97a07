"""`ludens pack` and `ludens verify FILE`: what is printed, and one sentence for everything that is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.cli.conftest import Run
from tests.support.forgery import Forgery
from tests.support.reported import NAME, make_run

SUITE = ("--suite", NAME, "--workers", "0")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    entrants = {"seer": "fake/seer", "random": "bot/random"}
    return make_run(tmp_path_factory.mktemp("runs") / "mine", entrants, limit=2)


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("keys") / "key.pem"
    private = Ed25519PrivateKey.from_private_bytes(bytes([7] * 32))
    file.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return file


def test_pack_and_verify(run: Path, key: Path, tmp_path: Path, ludens: Run) -> None:
    ran = ludens("pack", str(run), *SUITE)
    file = run.with_name("mine.ludens")
    assert (ran.code, ran.err) == (0, "")
    assert f"episodes in {file}" in ran.out
    assert "not signed" in ran.out
    ran = ludens("verify", str(file), *SUITE)
    assert (ran.code, ran.err) == (0, "")
    proven, trusted = ran.out.split("Must be trusted:")
    for word in ("rules", "pictures", "prompts", "parsing", "bots", "scores", "completeness"):
        assert f"\n  {word} " in proven
    assert "that fake/seer gave these replies" in trusted
    signed, keys = tmp_path / "signed.ludens", tmp_path / "keys.toml"
    made = json.loads(ludens("pack", str(run), "--out", str(signed), "--key", str(key), "--json", *SUITE).out)
    keys.write_text(f'ann = "{made["key"]}"\n')
    ran = ludens("verify", str(signed), "--keys", str(keys), "--json", *SUITE)
    read = json.loads(ran.out)
    assert (ran.code, read["submitter"], read["failures"], read["digest"]) == (0, "ann", [], made["digest"])
    keys.write_text(f'ben = "{"0" * 64}"\n')
    ran = ludens("verify", str(signed), "--keys", str(keys), *SUITE)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"ludens: '{signed}': it is signed with a foreign key")


def test_the_run_in_the_current_folder(run: Path, ludens: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run)
    ran = ludens("pack", ".", *SUITE)
    assert (ran.code, ran.err) == (0, "")
    assert f"episodes in {run.with_name('mine.ludens')}" in ran.out


def test_a_changed_byte_and_a_refuted_episode(run: Path, tmp_path: Path, ludens: Run) -> None:
    file = tmp_path / "mine.ludens"
    assert ludens("pack", str(run), "--out", str(file), *SUITE).code == 0
    changed = bytearray(file.read_bytes())
    changed[len(changed) // 2] ^= 1
    (tmp_path / "changed.ludens").write_bytes(changed)
    ran = ludens("verify", str(tmp_path / "changed.ludens"), *SUITE)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "does not continue the hash chain" in ran.err
    forgery = Forgery(file)
    forgery.record("seer:see:0:0")["episode"]["returns"]["viewer"] = 0.5
    ran = ludens("verify", str(forgery.write(tmp_path / "forged.ludens")), *SUITE)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("seer:see:0:0: the replayed returns differ")
    assert "forged.ludens: not verified" in ran.out
    assert "Proven" not in ran.out
    ran = ludens("verify", str(file))  # the suite was imported before, and is known in this process
    assert ran.code == 0


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        (("pack", "nowhere"), "is not a run"),
        (("pack", "RUN", "--out", "mine.zip"), "must end in .ludens"),
        (("pack", "RUN", "--out", "no/folder/mine.ludens"), "there is no folder"),
        (("pack", "RUN", "--key", "nowhere.pem"), "cannot read"),
        (("pack", "RUN", "--workers", "-1"), "--workers must be at least 0"),
        (("verify", "RUN", "--keys", "keys.toml"), "nothing else is signed"),
        (("verify", "nowhere.ludens"), "'nowhere.ludens': it cannot be read: no such file"),
        (("verify", "nowhere"), "is not a run"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(
    argv: tuple[str, ...],
    reason: str,
    run: Path,
    ludens: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = ludens(*(str(run) if word == "RUN" else word for word in argv))
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert reason in ran.err
