"""Packs: one file with everything that a run has shown, for others to verify (`ludens pack`).

A pack is JSON Lines, without compression. Each line begins with its link of the chain, the SHA-256 of the
link before and of the rest of the line:

    {"chain":"...","ludens":"pack","format":1,"episodes":60,"key":"","versions":{...},"plan":{...}}
    {"chain":"...","prompts":"...","record":{...}}      one per episode, in the order of the plan
    {"chain":"...","results":[...]}                     what was measured; the end of the chain
    {"signature":"..."}                                 where the first line names a key (Ed25519)

`record` is the line of the run's shard as it is, with the hashes of all pictures; `prompts` is a hash of the
prompts that models were sent. The chain finds damage. It does not stop a forger, who can compute it again:
replaying does (`ludens.run.proof`).
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import orjson

from ludens.core.errors import BadFile, MissingExtra
from ludens.core.files import file_error
from ludens.core.validation import Invalid, read_json
from ludens.run.lines import LINE_START, split_line
from ludens.run.plan import Plan
from ludens.run.rows import EPISODES
from ludens.run.stats import Estimate
from ludens.run.store import FINISHED

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SUFFIX = ".ludens"
FORMAT = 1
MAX_BYTES, MAX_HEAD, MAX_LINE = 1 << 30, 1 << 22, 1 << 26
"""Bytes of a pack, of its first line and its last one, and of the line of an episode."""
_DOMAIN = b"ludens pack 1\n"
_LINK = re.compile(rb'\{"chain":"([0-9a-f]{64})",(.*\})\n', re.DOTALL)
_RECORD = re.compile(rb'"prompts":"((?:[0-9a-f]{32})?)","record":(\{.*\})\}', re.DOTALL)
_KEY = re.compile(r"(?:[0-9a-f]{64})?")


class BadPack(BadFile):
    """A pack that is damaged or incomplete."""


@dataclass(frozen=True)
class Claim:
    """A result as the submitter measured it."""

    entrant: str
    task: str
    metric: str
    mean: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class PackHead:
    """The first line."""

    episodes: int
    """Lines of episodes, void ones included."""
    plan: dict[str, Any]
    ludens: str = "pack"
    format: int = FORMAT
    key: str = ""
    """The public key of the submitter, 32 bytes as hex; empty for a pack that is not signed."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of Ludens and the packages that draw and play, where it was packed."""


_HEAD_FIELDS = ("ludens", "format", "episodes", "key", "versions", "plan")
"""Its fields in the order in which they are written."""


@dataclass(frozen=True)
class _Seal:
    results: Sequence[Claim]


@dataclass(frozen=True)
class Pack:
    """What a pack says, apart from its episodes."""

    plan: Plan
    head: PackHead
    keys: Sequence[str]
    """The key of each episode that is not void, in the order of the lines."""
    voids: int
    prompts: Mapping[str, str]
    """Key of an episode to the hash of its prompts."""
    results: Sequence[Claim]
    digest: str
    """The end of the chain: it identifies the pack."""
    bytes: int

    @property
    def signed_by(self) -> str:
        return self.head.key


def claim(entrant: str, task: str, metric: str, result: Estimate) -> Claim:
    """A result; what is not a finite number is unknown."""
    return Claim(entrant, task, metric, **result.interval(), n=result.n)


class PackedLine(NamedTuple):
    """One episode."""

    key: str
    void: bool
    prompts: str
    """A hash of the prompts; empty for a void episode."""
    line: bytes
    """As the run has it."""


def write_pack(
    file: IO[bytes],
    plan: Plan,
    lines: Sequence[PackedLine],
    results: Sequence[Claim],
    versions: Mapping[str, str],
    signer: Ed25519PrivateKey | None = None,
) -> Pack:
    """Write a pack.

    Args:
        file: Where to.
        plan: The plan of the run.
        lines: Its episodes, in the order of the plan.
        results: What was measured.
        versions: Of packages.
        signer: The private key of the submitter.
    """
    key = signer.public_key().public_bytes_raw().hex() if signer else ""
    head = PackHead(len(lines), orjson.loads(plan.to_json()), key=key, versions=versions)
    chain, size = sha256(_DOMAIN).digest(), 0
    parts: Iterable[bytes] = (
        orjson.dumps({name: getattr(head, name) for name in _HEAD_FIELDS})[1:],
        *(b'"prompts":"%s","record":%s}' % (one.prompts.encode(), one.line.rstrip(b"\n")) for one in lines),
        orjson.dumps({"results": [asdict(one) for one in results]})[1:],
    )
    for rest in parts:
        chain = _next(chain, rest)
        size += file.write(b'{"chain":"%s",%s\n' % (chain.hex().encode(), rest))
    if signer is not None:
        size += file.write(_signature_line(signer.sign(_DOMAIN + chain)))
    prompts = {one.key: one.prompts for one in lines if not one.void}
    return Pack(plan, head, list(prompts), len(lines) - len(prompts), prompts, results, chain.hex(), size)


def unpack(file: Path, folder: Path) -> Pack:
    """Check the chain and the signature of a pack, and write its run into an empty folder.

    The names of the files that are written do not depend on the pack.
    """
    try:
        with open_pack(file) as source, (folder / EPISODES).open("wb") as shard:
            pack = _PackReader(source).read(shard)
        (folder / "run.json").write_bytes(pack.plan.to_json())
        (folder / FINISHED).write_bytes(orjson.dumps({"episodes": len(pack.keys)}))
        return pack
    except BadPack:
        raise
    except OSError as error:
        raise BadPack(f"it cannot be read: {(error.strerror or str(error)).lower()}.") from None
    except BadFile as error:
        raise BadPack(str(error)) from None


def open_pack(file: Path) -> IO[bytes]:
    """Open a pack, if it is a file of a permitted size."""
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise BadPack("it is not a file.")
    if status.st_size > MAX_BYTES:
        raise BadPack(f"it has {status.st_size:,} bytes, and a pack has at most {MAX_BYTES:,}.")
    return file.open("rb")


class _PackReader:
    def __init__(self, source: IO[bytes]) -> None:
        self._source, self._number, self._bytes = source, 0, 0
        self._chain = sha256(_DOMAIN).digest()

    def read(self, shard: IO[bytes]) -> Pack:
        head, plan = self._head()
        keys, prompts, voids = list[str](), dict[str, str](), 0
        for _ in range(head.episodes):
            match = _RECORD.fullmatch(rest := self._next(MAX_LINE))
            if match is None or not match[2].startswith(LINE_START) or b"\n" in rest:
                raise self._bad("is not an episode")
            line = match[2] + b"\n"
            record = split_line(line)[0]
            voids += record.void
            if not record.void:
                keys.append(record.key)
                prompts[record.key] = match[1].decode()
            shard.write(line)
        seal = self._parse(_Seal, self._next(MAX_HEAD))
        self._check_signature(head.key)
        return Pack(plan, head, keys, voids, prompts, seal.results, self._chain.hex(), self._bytes)

    def _head(self) -> tuple[PackHead, Plan]:
        rest = self._next(MAX_HEAD)
        if not rest.startswith(b'"'):
            raise self._bad("is not the first line of a pack")
        head = self._parse(PackHead, rest)
        if head.ludens != "pack" or head.format != FORMAT:
            raise BadPack(f"it is not a pack of format {FORMAT}, the one that this Ludens reads.")
        if head.episodes < 1 or not _KEY.fullmatch(head.key):
            raise self._bad("is not the first line of a pack")
        return head, Plan.from_json(orjson.dumps(head.plan))

    def _parse(self, kind: type[Any], rest: bytes) -> Any:
        try:
            return read_json(kind, b"{" + rest)
        except Invalid as error:
            raise self._bad(f"is not valid {error}") from None

    def _line(self, limit: int) -> bytes:
        self._number += 1
        line = self._source.readline(limit + 1)
        self._bytes += len(line)
        if len(line) > limit:
            raise self._bad(f"has more than {limit:,} bytes")
        return line

    def _next(self, limit: int) -> bytes:
        """The next line of the chain, without its link."""
        line = self._line(limit)
        if not line.endswith(b"\n"):
            raise self._bad("is missing or incomplete: the file was cut off")
        match = _LINK.fullmatch(line)
        if match is None and self._number == 1:
            raise BadPack("it is not a pack: its first line does not begin a chain.")
        self._chain = _next(self._chain, match[2]) if match else b""
        if match is None or self._chain.hex().encode() != match[1]:
            raise self._bad("does not continue the hash chain: it or a line before it was changed")
        return match[2]

    def _check_signature(self, key: str) -> None:
        line = self._line(MAX_HEAD)
        if not key:
            if line:
                raise self._bad("follows the end of the chain")
            return
        if not line:
            raise BadPack(f"its signature is missing: it names the key {key}.")
        if self._source.read(1):
            self._number += 1
            raise self._bad("follows the signature")
        match = re.fullmatch(rb'\{"signature":"([0-9a-f]{128})"\}\n', line)
        if match is None or not _is_signed(key, bytes.fromhex(match[1].decode()), _DOMAIN + self._chain):
            raise BadPack(f"its signature was not made with the key {key} that it names.")

    def _bad(self, problem: str) -> BadPack:
        return BadPack(f"line {self._number} {problem}.")


def _next(chain: bytes, rest: bytes) -> bytes:
    return sha256(chain + rest).digest()


def _signature_line(signature: bytes) -> bytes:
    return orjson.dumps({"signature": signature.hex()}, option=orjson.OPT_APPEND_NEWLINE)


def _is_signed(key: str, signature: bytes, message: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise MissingExtra("checking the signature of a pack", "sign") from None
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


def read_signer(file: Path) -> Ed25519PrivateKey:
    """The private key in a PEM file, as `openssl genpkey -algorithm ed25519` writes it."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise MissingExtra("signing a pack", "sign") from None
    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except OSError as error:
        raise file_error("read", file, error) from None
    except (ValueError, TypeError):  # encrypted, or no PEM
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise BadFile(
            f"{str(file)!r} is not a private Ed25519 key without a password: make one with "
            f"openssl genpkey -algorithm ed25519 -out {file}"
        )
    return key


def read_keys(file: Path) -> dict[str, str]:
    """The public keys of known submitters: a TOML file with lines NAME = "KEY"; returns key to name."""
    import tomllib

    try:
        names = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise file_error("read", file, error) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"{str(file)!r} is not TOML: {error}.") from None
    for name, key in names.items():
        if not isinstance(key, str) or not key or not _KEY.fullmatch(key):
            raise BadFile(f"{str(file)!r}: {name} must be a public key, 64 hexadecimal digits in lower case.")
    keys = {key: name for name, key in names.items()}
    if len(keys) < len(names):
        raise BadFile(f"{str(file)!r} has one key under two names.")
    return keys


def packs_in(folder: Path) -> Iterator[Path]:
    """The packs below a folder, in order of their paths."""
    return (path for path in sorted(folder.rglob(f"*{SUFFIX}")) if not path.is_dir())
