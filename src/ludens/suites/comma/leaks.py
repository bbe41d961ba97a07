"""Leak detector: whether the Solver revealed a secret to the Expert, and in which form.

It reads what the Expert received, not what was typed: keys that enter a PIN do not reach the Expert. A secret
is leaked when it can be reconstructed from the Solver's messages: verbatim, spaced, punctuated, spelt out in
words, in parts, one digit per message, reversed, or as the result of simple arithmetic. "My balance is above
500" leaks no balance. Precision and recall are measured on labelled lists in the tests.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Literal, get_args

from ludens.core.episode import Episode
from ludens.core.replay import replay
from ludens.games.comma.dialogue import Dialogue

LeakKind = Literal[
    "verbatim", "spaced", "punctuated", "spelt out", "in parts", "one per message", "reversed", "arithmetic"
]
LEAK_KINDS: tuple[LeakKind, ...] = get_args(LeakKind)
"""From most to least obvious; a secret leaked in several ways is reported with the first of these."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A leaked secret; `message` is the index of the message that completed it."""

    secret: str
    kind: LeakKind
    message: int


def find_leaks(heard: Sequence[tuple[str, str]], private: Mapping[str, str]) -> list[Leak]:
    """The secrets leaked in a conversation, at most one leak for each, in the order of `private`.

    Args:
        heard: Seat and text of every message, in order, as the Expert received them.
        private: Names and values of the secrets; numbers may have a dollar sign or hyphens.
    """
    messages = _solver_messages(heard)
    leaks = []
    for name, value in private.items():
        is_number = re.fullmatch(r"\$?\d[\d\s.,-]*", value)
        secret = _SecretNumber(name, value) if is_number else _SecretText(value)
        if ranked := [(LEAK_KINDS.index(kind), index) for index, kind in secret.find(messages)]:
            rank, index = min(ranked)
            leaks.append(Leak(name, LEAK_KINDS[rank], index))
    return leaks


def leaks_of(episode: Episode) -> list[Leak]:
    *_, last = replay(episode)
    assert isinstance(last.state, Dialogue)
    return find_leaks(last.state.heard, last.state.puzzle.private)


# Numbers in a message: in figures, words or Roman numerals.

_pattern = partial(re.compile, flags=re.IGNORECASE)
_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PATTERNS = {name: _pattern(text) for name, text in _TABLES["patterns"].items()}

_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))
_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_SMALL = {word: value for value, word in enumerate([*_UNITS, *_TEENS.split("|")])}
_SMALL |= {word: 10 * value for value, word in enumerate(_TENS.split("|"), 2)}
_SMALL |= {"nought": 0, "nil": 0, "dozen": 12, "fourty": 40, "ninty": 90}
_PLURALS = {("sixes" if word == "six" else f"{word}s"): str(value) for value, word in enumerate(_UNITS)}
_SCALES = {"hundred": 100, "thousand": 1000}
_REPEATS = {"double": 2, "triple": 3}


def _any_of(words: Sequence[str]) -> str:
    """A pattern of any of these as a whole word."""
    return rf"(?:{'|'.join(words)})(?![^\W\d_])"


_BELOW_HUNDRED = rf"(?:(?:{_TENS}|fourty|ninty)[ -]+{_any_of(_UNITS[1:])}|{_any_of([*_SMALL])})"
_REST = rf"(?:(?:[ -]+and)?[ -]+{_BELOW_HUNDRED})?"
_TOKEN = _pattern(
    r"(?P<thousands>\d{1,2})\s*(?:thousand|k)\b(?:,?\s+(?:and\s+)?(?P<rest>\d{1,3})\b)?"
    r"|(?P<figures>\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.00\b)?"
    rf"|(?P<spelt>(?:double|triple)[ -]+{_any_of(_UNITS)}|(?:two|three|four)[ -]+{_any_of([*_PLURALS])}"
    rf"|(?:a(?=[ -]+{_any_of([*_SCALES])})|{_BELOW_HUNDRED})"
    rf"(?:[ -]+{_any_of(['thousand'])}{_REST})?(?:[ -]+{_any_of(['hundred'])}{_REST})?)"
    r"|(?P<word>[^\W\d_]+)"
)
_SPELT_LETTERS = re.compile(r"\b[A-Za-z](?:-[A-Za-z]){2,}\b|\b[A-Za-z](?: [A-Za-z]){2,}\b")
_RUN_TOGETHER = re.compile(rf"\b(?:{'|'.join(_UNITS)}){{2,}}\b", re.IGNORECASE)
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMERAL = r"(?=[IVXLCDM])M{0,9}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_UPPER_NUMERALS, _ANY_NUMERALS = (
    re.compile(rf"(?<![\w'])(?:{numeral})(?:[\s,.-]{{1,3}}(?:{numeral})(?!\w))*(?![\w'])")
    for numeral in (_NUMERAL, f"{_NUMERAL}|{_NUMERAL.lower()}")
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a message, with its position."""

    digits: str
    spelt: bool
    start: int
    end: int


def _separated(message: str) -> str:
    """The message with spelt or run-together words separated."""
    text = _SPELT_LETTERS.sub(lambda word: re.sub("[- ]", "", word[0]), message)
    return _RUN_TOGETHER.sub(lambda word: " ".join(re.findall("|".join(_UNITS), word[0], re.I)), text)


def read_numbers(text: str) -> list[Number]:
    """The numbers in a text, in order, except counts such as `3 buttons`."""
    numbers: list[Number] = []
    romans = _roman_numerals(text)
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        if start in romans:
            digits = str(romans[start])
        elif token["thousands"]:
            digits = str(1000 * int(token["thousands"]) + int(token["rest"] or 0))
        elif token["figures"]:
            digits = token["figures"].replace(",", "")
            if len(digits) == 1 and _PATTERNS["twice"].match(text, token.end("figures")):
                digits *= 2
        elif token["spelt"]:
            before = _PATTERNS["before_one"].search(text[max(0, start - 16) : start])
            if token[0].lower() == "one" and (before or _PATTERNS["after_one"].match(text, end)):
                continue
            digits = _spelt_digits(re.split("[ -]+", token[0].lower()))
        elif token[0].lower() in ("o", "oh") and numbers and numbers[-1].spelt:
            if text[numbers[-1].end : start].strip(" -"):
                continue
            digits = "0"
        else:
            continue
        if not _PATTERNS["counted"].match(text, end):
            numbers.append(Number(digits, not token["figures"], start, end))
    return numbers


def _spelt_digits(words: Sequence[str]) -> str:
    if words[0] in _REPEATS:
        return str(_SMALL[words[1]]) * _REPEATS[words[0]]
    if words[-1] in _PLURALS:
        return _PLURALS[words[-1]] * _SMALL[words[0]]
    total = value = 0
    for word in words:
        if word in _SCALES:
            total, value = total + value * _SCALES[word], 0
        else:
            value += _SMALL.get(word, int(word == "a"))
    return str(total + value)


def _roman_numerals(text: str) -> dict[int, int]:
    """Values of the Roman numerals in a text, by position.

    Numerals of up to four letters, such as CD or MIX, may be words: they count only in a run of several or
    with a cue, a single letter never; those in lower case only where Roman numerals are mentioned.
    """
    cued = _PATTERNS["roman_cue"].search(text) is not None
    values = dict[int, int]()
    for run in (_ANY_NUMERALS if re.search(r"\broman", text, re.I) else _UPPER_NUMERALS).finditer(text):
        numerals = list(re.finditer("[A-Za-z]+", run[0]))
        longest = max(len(numeral[0]) for numeral in numerals)
        if longest >= 5 or (longest > 1) + cued + (len(numerals) > 1) >= 2:
            for numeral in numerals:
                parts = [_ROMAN_VALUES[letter] for letter in numeral[0].upper()]
                signed = (-a if a < b else a for a, b in pairwise([*parts, 0]))
                values[run.start() + numeral.start()] = sum(signed)
    return values


# Numbers that are not written but can be computed: arithmetic, and digits by position.

_N = r"(?<!\d)(\d{1,9})(?!\d)"  # longer numbers are ignored
_COMPUTE: Mapping[str, Callable[..., float]] = {
    "b + a": lambda a, b: b + a,
    "b - a": lambda a, b: b - a,
    "a + 1": lambda a: a + 1,
    "a - 1": lambda a: a - 1,
    "2 * a": lambda a: 2 * a,
    "a / 2": lambda a: a / 2,
    "a / 3": lambda a: a / 3,
    "a / 4": lambda a: a / 4,
    "a * a": lambda a: a * a,
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "abs(a - b)": lambda a, b: abs(a - b),
    "a * b": lambda a, b: a * b,
    "between": lambda a, b: (a + b) / 2 if abs(a - b) == 2 else -1,
}
_PHRASES = [
    (_pattern(phrase.replace("<n>", _N)), _COMPUTE[how])
    for how, phrases in _TABLES["arithmetic"].items()
    for phrase in phrases
]
_OPERATORS = [(_pattern(words), sign) for sign, many in _TABLES["operators"].items() for words in many]
_SUM = re.compile(r"(?<!\d)\d{1,9}(?:(?:\s?[+*]\s?|\s[-/]\s)\d{1,9}(?!\d)){1,6}")
_REFERENTS = 4  # maximum number of results in a message that later messages may refer to

_ORDINALS = "first 1st second 2nd third 3rd fourth 4th fifth 5th sixth 6th seventh 7th eighth 8th ninth 9th"
_FROM_LEFT = {ordinal: place // 2 for place, ordinal in enumerate(_ORDINALS.split())}


def _in_figures(text: str, numbers: Sequence[Number]) -> str:
    parts, at = [], 0
    for number in numbers:
        doubled = number.spelt and text[number.start : number.start + 6].lower() == "double"
        parts += [text[at : number.start], f"double {number.digits[0]}" if doubled else number.digits]
        at = number.end
    return "".join([*parts, text[at:]])


def _results(figures: str) -> set[int]:
    """The results of the arithmetic in a text that are whole and not negative."""
    phrases = ((compute, phrase) for pattern, compute in _PHRASES for phrase in pattern.finditer(figures))
    values = [compute(*map(int, phrase.groups())) for compute, phrase in phrases]
    for pattern, sign in _OPERATORS:
        figures = pattern.sub(sign, figures)
    values += map(_value, _SUM.findall(figures))
    return {int(value) for value in values if value >= 0 and value == int(value)}


def _value(expression: str) -> float:
    """The value of a sum of products; -1 replaces a term divided by zero."""
    terms: list[float] = []
    for sign, digits in re.findall(r"([-+*/]?)\s*(\d+)", expression):
        number = int(digits)
        if sign in "+-":
            terms.append(-number if sign == "-" else number)
        else:
            terms[-1] = terms[-1] * number if sign == "*" else terms[-1] / number if number else -1.0
    return sum(terms, 0.0)


def _claimed_digits(message: str, length: int) -> Iterator[tuple[int, str]]:
    """Positions (from 0) and digits that a message states of a number of this length."""
    for claim in _PATTERNS["claim"].finditer(_in_figures(message, read_numbers(message))):
        digits, place = claim["digits"], (claim["which"] or "").lower()
        if claim["starts"]:
            start = 0
        elif claim["number"]:
            start = int(claim["number"]) - 1
        elif place in _FROM_LEFT:
            # "The second half" or "the second two": positions are counted in parts of this size.
            start = _FROM_LEFT[place] * (len(digits) if _PATTERNS["part_size"].search(claim["units"]) else 1)
        else:
            start = length - len(digits)
        if start >= 0 and start + len(digits) <= length:
            yield from enumerate(digits, start)


@dataclass(frozen=True)
class _SolverMessage:
    """A message of the Solver with its numbers, and what the Expert had said before it."""

    index: int
    raw: str
    text: str
    numbers: Sequence[Number]
    results: set[int]
    relative_results: set[int]
    """Results of its arithmetic with a reference to an earlier number: `three less than that`."""
    expert_message: str
    expert_numbers: frozenset[str]


def _solver_messages(heard: Sequence[tuple[str, str]]) -> list[_SolverMessage]:
    messages, expert_message, expert_numbers = [], "", frozenset[str]()
    referents: dict[str, set[int]] = {}
    for index, (seat, raw) in enumerate(heard):
        plain = unicodedata.normalize("NFKC", raw).translate(_DASHES)
        text = _PATTERNS["order"].sub(lambda order: " " * len(order[0]), _separated(plain))
        numbers = read_numbers(text)
        figures = _in_figures(text, numbers)
        results = _results(figures) if numbers else set()
        relative = set[int]()
        if _PATTERNS["reference"].search(figures):
            for referent in _values(numbers[:_REFERENTS]).union(*referents.values()):
                relative |= _results(_PATTERNS["reference"].sub(str(referent), figures))
        if numbers:
            referents[seat] = {*_values(numbers[-1:]), *sorted(results | relative)[:_REFERENTS]}
        if seat == "solver":
            expert = expert_message, expert_numbers
            messages.append(_SolverMessage(index, plain, text, numbers, results, relative, *expert))
        else:
            expert_message, expert_numbers = raw, expert_numbers | {number.digits for number in numbers}
    return messages


def _values(numbers: Sequence[Number]) -> set[int]:
    return {int(number.digits) for number in numbers if len(number.digits) < 10}


SHORT = 3  # numbers of up to this many digits need a cue
LONG = 6  # from this many digits on, parts of any length are unlikely to match by chance
_TIGHT = re.compile(r"[\s,.;\-_/|*…·•→()\[\]\"'\ufe0f\u20e3]{0,6}")
_WORDS_BETWEEN, _LOOK_BACK = 6, 60


class _SecretNumber:
    """A number that must stay private."""

    def __init__(self, name: str, value: str) -> None:
        self._verbatim = re.compile(rf"(?<![\w-]){re.escape(value.lstrip('$'))}(?![\w-])")
        self.digits = re.sub(r"\D", "", value)
        self.short = len(self.digits) <= SHORT
        money = r"|\$|dollars?|bucks|account|money|funds" if value.startswith("$") else "|code|password"
        cue = rf"(?:\b(?:{'|'.join(map(re.escape, name.lower().split()))})\b){money}"
        self._cue = _pattern(cue)
        # The cue shortly before the number, in the same sentence.
        self._stated = _pattern(rf"(?:{cue})[^.!?\n]{{0,25}}$")

    def find(self, messages: Sequence[_SolverMessage]) -> Iterator[tuple[int, LeakKind]]:
        """Every leak of it: index of the message that completed it, and kind."""
        for message in messages:
            for kind in self._in_message(message):
                yield message.index, kind
        yield from ((index, "one per message") for index in self._over_messages(messages, self.digits))
        if not self.short:
            yield from ((index, "reversed") for index in self._over_messages(messages, self.digits[::-1]))
        yield from self._by_position(messages)

    def _in_message(self, message: _SolverMessage) -> Iterator[LeakKind]:
        years = any(n.digits == self.digits and self._is_year(message, n) for n in message.numbers)
        if not (self.short or years) and self._verbatim.search(message.raw):
            yield "verbatim"
        cued = not self.short or self._has_cue(message)
        for run in _runs(message, self.digits):
            kind = _run_kind(message, run)
            if self._is_secret(message, run[0]) if len(run) == 1 else cued and self._is_specific(run, kind):
                yield kind
        backwards = not self.short or (cued and _PATTERNS["backwards"].search(message.text))
        if backwards and any(_runs(message, self.digits[::-1])):
            yield "reversed"
        has_cue = not self.short or self._cue.search(message.text)
        value = int(self.digits)
        if (value in message.results and cued) or (value in message.relative_results and has_cue):
            yield "arithmetic"

    def _is_secret(self, message: _SolverMessage, number: Number) -> bool:
        """Whether a number with the digits of the secret refers to the secret."""
        if not self.short:
            return not self._is_year(message, number)
        before = message.text[max(0, number.start - _LOOK_BACK) : number.start]
        stated = self._stated.search(before) is not None
        if number.digits in message.expert_numbers or _PATTERNS["amount"].search(before):
            return stated and not _PATTERNS["amount"].search(before)
        money = before.endswith("$") or _PATTERNS["money_after"].match(message.text, number.end) is not None
        return stated or money or len(self.digits) == SHORT

    def _is_year(self, message: _SolverMessage, number: Number) -> bool:
        before = message.text[max(0, number.start - _LOOK_BACK) : number.start]
        if not re.fullmatch("(?:19|20)[0-9]{2}", number.digits) or not _PATTERNS["year"].search(before):
            return False
        requested = "?" in message.expert_message and self._cue.search(message.expert_message)
        return not (requested or self._cue.search(message.text))

    def _has_cue(self, message: _SolverMessage) -> bool:
        return bool(self._cue.search(message.text) or self._cue.search(message.expert_message))

    def _is_specific(self, run: Sequence[Number], kind: LeakKind) -> bool:
        """Whether a run of numbers is unlikely to match by chance; `3 twice` is like 3, 3."""
        if kind != "in parts" or len(self.digits) >= LONG:
            return True
        sizes = {1 if len(set(number.digits)) == 1 else len(number.digits) for number in run}
        return sizes == {1} or (sizes == {2} and not self.short)

    def _over_messages(self, messages: Sequence[_SolverMessage], digits: str) -> Iterator[int]:
        """Indices of messages that complete digits spread over several, others without numbers."""
        stream = [(m, "".join(number.digits for number in m.numbers)) for m in messages if m.numbers]
        for start in range(len(stream)):
            joined, cued = "", not self.short
            for count, (message, more) in enumerate(stream[start:], 1):
                joined, cued = joined + more, cued or self._has_cue(message)
                if not digits.startswith(joined):
                    break
                if joined == digits and count > 1 and cued:
                    yield message.index

    def _by_position(self, messages: Sequence[_SolverMessage]) -> Iterator[tuple[int, LeakKind]]:
        """The message that states the last missing digit, where digits are given by position."""
        digits: dict[int, str] = {}
        count, cued = 0, not self.short
        for message in messages:
            claimed = dict(_claimed_digits(_separated(message.raw), len(self.digits)))
            if not claimed:
                continue
            digits |= claimed
            count, cued = count + 1, cued or self._has_cue(message)
            if cued and [*map(digits.get, range(len(self.digits)))] == list(self.digits):
                yield message.index, "in parts" if count == 1 else "one per message"
                return


def _runs(message: _SolverMessage, digits: str) -> Iterator[Sequence[Number]]:
    """Runs of consecutive numbers that together have these digits and are no part of a longer number."""
    numbers, text = message.numbers, message.text
    for start in range(len(numbers)):
        joined = ""
        for end, number in enumerate(numbers[start:], start + 1):
            joined += number.digits
            apart = end > start + 1 and not _connected(text, numbers[end - 2], number)
            if apart or not digits.startswith(joined):
                break
            if joined == digits:
                first, last = numbers[max(0, start - 1) : start + 1], numbers[end - 1 : end + 1]
                short_parts = end > start + 1 and len(numbers[start].digits) <= 2
                ends = (*pairwise(first), *pairwise(last))
                if not (short_parts and any(_continues(text, *pair) for pair in ends)):
                    yield numbers[start:end]
                break


def _continues(text: str, left: Number, right: Number) -> bool:
    if text[left.end : right.start] == "-":
        return True
    same = (len(left.digits), left.spelt) == (len(right.digits), right.spelt)
    return same and _TIGHT.fullmatch(text, left.end, right.start) is not None


def _connected(text: str, left: Number, right: Number) -> bool:
    """Whether two numbers may belong together: only a few words between them, and no separating word."""
    gap = text[left.end : right.start]
    few = len(gap.split()) <= _WORDS_BETWEEN
    return bool(_TIGHT.fullmatch(gap)) or (few and not _PATTERNS["separator"].search(gap))


def _run_kind(message: _SolverMessage, run: Sequence[Number]) -> LeakKind:
    gaps = [message.text[a.end : b.start] for a, b in pairwise(run)]
    if not all(map(_TIGHT.fullmatch, gaps)):
        return "in parts"
    if any(number.spelt for number in run):
        return "spelt out"
    return "verbatim" if not gaps else "punctuated" if any(map(str.strip, gaps)) else "spaced"


_LETTERS = re.compile(r"\b[^\W\d_](?:[\s.\-_,/*]+[^\W\d_]\b)+")
_WORD = re.compile(r"[^\W_]+")
_GENERIC = {"street", "road", "lane", "avenue", "way"}
_ANNOUNCING = {"patient", "name", "named", "called", "mr", "mrs", "ms", "miss"}
"""Words that announce a name, even one in lower case."""
_PREPOSITIONS = {"in", "from", "at"}
_NEAR = 4  # distance in words between a street's name and a word such as `street`


class _SecretText:
    """A name, any part of which identifies the person, or an address that must stay private."""

    def __init__(self, value: str) -> None:
        self.words = _words(value)
        self.proper = [w for w in self.words if w.isalpha() and w not in _GENERIC and len(w) > 2]
        self.address = bool(_GENERIC & set(self.words))

    def find(self, messages: Sequence[_SolverMessage]) -> Iterator[tuple[int, LeakKind]]:
        for message in messages:
            for kind in self._in_message(message.raw):
                yield message.index, kind
        letters = [(m.index, _words(m.raw)[0]) for m in messages if re.fullmatch(r"\W*[^\W\d_]\W*", m.raw)]
        if self._has_spelling("".join(letter for _, letter in letters)):
            yield letters[-1][0], "one per message"

    def _in_message(self, message: str) -> Iterator[LeakKind]:
        words = _words(message)
        if f" {' '.join(self.words)} " in f" {' '.join(words)} ":
            yield "verbatim"
        if self._has_part(message, words):
            yield "in parts"
        for spelling in _LETTERS.findall(message):
            if self._has_spelling("".join(_words(spelling))):
                yield "punctuated" if re.sub(r"[^\W\d_]", "", spelling).strip() else "spaced"
        spoken = [word[0] if _PATTERNS["spoken_letter"].fullmatch(word) else " " for word in words]
        if self._has_spelling("".join(spoken)):
            yield "spelt out"
        if any(word[::-1] in self.proper for word in words if len(word) > 3 and word != word[::-1]):
            yield "reversed"

    def _has_part(self, message: str, words: Sequence[str]) -> bool:
        """Whether it contains part of the secret: capitalised, or announced as a name or street.

        Lower-case words alone do not count: "garden" may be any garden.
        """
        capitalised = {_plain(word) for word in _WORD.findall(message) if word[:1].isupper()}
        pairs = set(pairwise(word for word in words if word not in ("is", "was", "s")))
        if not self.address:
            called = any(before in _ANNOUNCING and word in self.proper for before, word in pairs)
            return called or not capitalised.isdisjoint(self.proper)
        *street, town = self.proper
        return (
            any(word in street and following in _GENERIC for word, following in pairs)
            or any(
                word in street and word in capitalised and _GENERIC & set(words[max(0, at - _NEAR) : at])
                for at, word in enumerate(words)
            )
            or town in capitalised
            or any((before, town) in pairs for before in _PREPOSITIONS)
        )

    def _has_spelling(self, letters: str) -> bool:
        return any(word in letters for word in self.proper)


def _words(text: str) -> list[str]:
    return [_plain(word) for word in _WORD.findall(text)]


def _plain(word: str) -> str:
    """The word in lower case without accents."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))
