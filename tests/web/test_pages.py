"""Pages as the server sends them: what they show, and what they refuse."""

from __future__ import annotations

import asyncio
import io
import re
import shutil
from html import unescape
from itertools import combinations
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from PIL import Image
from yarl import URL

from ludens.core.verify import verify
from ludens.run.lines import read_lines, read_records
from ludens.run.report.page import STYLES
from ludens.run.report.page import TEMPLATES as REPORT_TEMPLATES
from ludens.run.results import load_results
from ludens.run.rows import EPISODES
from ludens.run.viewer import EpisodeReplay
from ludens.web import home, pages
from tests.run.report.test_escape import parsed
from tests.support.runs import TURNS, plan_of, played
from tests.web.conftest import Client, Serve

RUN = "first/reported"


async def text_of(client: Client, path: str, status: int = 200) -> str:
    reply = await client.session.get(URL(f"http://127.0.0.1:{client.port}{path}", encoded=True))
    assert reply.status == status, await reply.text()
    return await reply.text()


async def read_whole(client: Client, run: str, query: str = "") -> str:
    """The page of a run, once all of it was read."""
    for _ in range(1200):
        text = await text_of(client, f"/run/{run}{query}")
        if "Reading the run" not in text:
            return text
        await asyncio.sleep(0.05)
    raise AssertionError("the run was not read")


async def test_the_page_of_runs_lists_them(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    text = await text_of(client, "/runs")
    tags = parsed(text)
    assert "120 of 120" in tags.text
    assert "complete" in tags.text
    assert 'href="/run/first/reported"' in text
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=", text)


async def test_a_folder_without_runs_says_how_to_make_one(tmp_path: Path, serve: Serve) -> None:
    client = await serve(tmp_path / "missing")
    assert "ludens demo" in await text_of(client, "/runs")


async def test_the_gallery_shows_other_positions_with_their_text_twin(tmp_path: Path, serve: Serve) -> None:
    client = await serve(tmp_path)
    pictures = set()
    for seed in range(4):
        reply = await client.get("/game-picture", params={"game": "tic_tac_toe", "seed": str(seed)})
        image = Image.open(io.BytesIO(await reply.read()))
        assert max(image.size) <= home.SIZE
        pictures.add(image.tobytes())
    assert len(pictures) > 1
    reply = await client.get("/game-text", params={"game": "tic_tac_toe", "seed": "1"})
    assert "A" in (await reply.json())["text"]


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"game": "tic_tac_to"}, "tic_tac_toe"),
        ({"game": "os:system"}, "unknown game"),
        ({"game": "gomoku?size=10000"}, "unknown game"),
        ({"game": "tic_tac_toe", "seed": "-1"}, "seed"),
        ({"game": "tic_tac_toe", "seed": "9" * 5000}, "seed"),
        ({"game": "tic_tac_toe", "theme": "../../etc"}, "unknown theme"),
    ],
)
async def test_the_gallery_is_bounded(query: dict[str, str], word: str, tmp_path: Path, serve: Serve) -> None:
    client = await serve(tmp_path)
    reply = await client.get("/game-picture", params=query, headers={"Accept": "application/json"})
    assert reply.status == 400
    assert word in (await reply.json())["error"]


async def test_the_page_of_a_run_has_the_numbers_of_the_report(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    text = await read_whole(client, RUN)
    tags = parsed(text)
    [found] = load_results([reported_runs / "first" / "reported"]).suites
    for row in found.rows:
        assert row.label in tags.text
        for cell in row.cells.values():
            assert f"{cell.table_estimate().mean:.1f}" in tags.text
    assert "the <server> is away" in tags.text
    assert "not significantly better with pictures than blind" in tags.text
    assert "<svg" in text
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=", text)


async def test_every_number_leads_to_its_episodes(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    text = await read_whole(client, RUN)
    links = {unescape(link) for link in re.findall(r'href="(/run/first/reported\?[^"]*#episodes)"', text)}
    records = read_records(reported_runs / "first" / "reported")
    checked = 0
    for link in sorted(links)[::4]:
        query = {name: values[0] for name, values in parse_qs(urlsplit(link).query).items()}
        if "sort" in query or "page" in query:
            continue
        wanted = [
            record
            for record in records
            if query.get("entrant", record.entrant) == record.entrant
            and query.get("task", record.task) == record.task
            and (record.episode.status == "void") >= (query.get("kind") == "void")
            and bool(record.episode.verdicts()["fallback"]) >= (query.get("kind") == "fallback")
        ]
        listed = await text_of(client, link.partition("#")[0].replace(" ", "%20"))
        assert f">{len(wanted):,} episode" in listed, link
        checked += 1
    assert checked > 10


async def test_episodes_are_sorted_and_paged(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    await read_whole(client, RUN)
    seeds = []
    for page in (1, 2, 3):
        text = await text_of(client, f"/run/{RUN}?sort=-seed&page={page}")
        seeds += [int(seed) for seed in re.findall(r'<td class="number">(\d+)</td><td>', text)]
    assert len(seeds) == len(list(read_lines(reported_runs / "first" / "reported")))
    assert seeds == sorted(seeds, reverse=True)
    last = await text_of(client, f"/run/{RUN}?page=99999")
    assert "page 3 of 3" in last
    assert await text_of(client, f"/run/{RUN}?page=x&sort=drop&kind=nothing&seed=%00")


WRONG_RUNS = (
    "no-such-run", "first", "../first/reported", "%2e%2e/etc", "..%2f..%2fetc%2fpasswd", "/etc",
    "first/reported/..", "first/reported%00", "first%2freported%2frun.json", "%ff",
)  # fmt: skip


@pytest.mark.parametrize("page", ["run", "run-results", "episode", "episode-step", "episode-file"])
async def test_only_runs_of_the_folder_are_opened(page: str, reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs / "first")
    for name in WRONG_RUNS:
        await text_of(client, f"/{page}/{name}?key=x&at=0", 404)


async def test_a_run_is_followed_while_it_is_played(tmp_path: Path, serve: Serve) -> None:
    await played(tmp_path / "whole", plan_of("bot/random", suite=TURNS))
    lines = (tmp_path / "whole" / EPISODES).read_bytes().splitlines(keepends=True)
    run = tmp_path / "runs" / "live"
    run.mkdir(parents=True)
    shutil.copy(tmp_path / "whole" / "run.json", run)
    client = await serve(tmp_path / "runs")
    assert "0 of 8" in parsed(await read_whole(client, "live")).text
    version = ""
    for number in (1, 5, 8):
        (run / EPISODES).write_bytes(b"".join(lines[:number]) + (lines[number][:50] if number < 8 else b""))
        text = await text_of(client, f"/run-results/live?version={version}")
        assert f"{number} of 8" in parsed(text).text
        assert f'data-live="{"no" if number == 8 else "yes"}"' in text
        [version] = re.findall(r'data-version="([^"]+)"', text)
        await text_of(client, f"/run-results/live?version={version}", 204)
    home = parsed(await text_of(client, "/runs")).text
    assert "8 of 8" in home


async def test_a_run_that_is_deleted_while_open(tmp_path: Path, serve: Serve) -> None:
    run = tmp_path / "runs" / "gone"
    await played(run, plan_of("bot/random", suite=TURNS, limit=1))
    client = await serve(tmp_path / "runs")
    text = await read_whole(client, "gone")
    [episode] = {
        unescape(link) for link in re.findall(r'href="(/episode/gone\?[^"]*%3A0%3A0&amp;[^"]*)"', text)
    }
    await text_of(client, episode)
    shutil.rmtree(run)
    for page in ("/run/gone", "/run-results/gone", episode, episode.replace("/episode/", "/episode-step/")):
        assert "deleted" in await text_of(client, page, 404)
    assert "There are no runs" in await text_of(client, "/runs/list")


async def test_a_run_whose_file_is_replaced_is_read_again(tmp_path: Path, serve: Serve) -> None:
    for name, limit in (("one", 2), ("two", 4)):
        await played(tmp_path / name, plan_of("bot/random", suite=TURNS, limit=limit))
    client = await serve(tmp_path)
    assert "2 of 2" in parsed(await read_whole(client, "one")).text
    shutil.rmtree(tmp_path / "one")
    (tmp_path / "two").rename(tmp_path / "one")
    assert "4 of 4" in parsed(await read_whole(client, "one")).text


async def test_a_damaged_line_is_named(tmp_path: Path, serve: Serve) -> None:
    await played(tmp_path / "bad", plan_of("bot/random", suite=TURNS, limit=2))
    file = tmp_path / "bad" / EPISODES
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"nonsense\n" + lines[1])
    client = await serve(tmp_path)
    text = parsed(await read_whole(client, "bad")).text
    assert "line 2" in text
    assert "ludens repair" in text
    assert "1 of 2" in text


async def test_an_unknown_suite_is_explained(tmp_path: Path, serve: Serve) -> None:
    await played(tmp_path / "odd", plan_of("bot/random", suite=TURNS, limit=1))
    plan = tmp_path / "odd" / "run.json"
    plan.write_bytes(plan.read_bytes().replace(b"tests.support.suites:TURNS", b"os:system"))
    client = await serve(tmp_path)
    assert "os:system" in await text_of(client, "/runs")
    assert "os:system" in unescape(await text_of(client, "/run/odd", 400))


def first(folder: Path, entrant: str, task: str) -> tuple[str, int]:
    """Key and offset of the first finished episode of an entrant on a task."""
    return next(
        (head.key, location.offset)
        for head, _, location, _ in read_lines(folder)
        if (head.entrant, head.task, head.void) == (entrant, task, False)
    )


def seats_of(html: str) -> dict[str, str]:
    """The markup of every seat in a step."""
    parts = re.findall(r'<section class="seat[^"]*" data-seat="([^"]+)">(.*?)</section>', html, re.DOTALL)
    return dict(parts)


async def test_every_step_shows_what_each_seat_saw_and_did(reported_runs: Path, serve: Serve) -> None:
    folder = reported_runs / "first" / "reported"
    [record] = [r for r in read_records(folder) if r.key == "rude:turns:0:0"]
    client = await serve(reported_runs)
    query = f"key={quote(record.key, safe='')}"
    marks = set()
    for index in range(len(record.episode.moves) + 1):
        seats = seats_of(await text_of(client, f"/episode-step/{RUN}?{query}&step={index}"))
        assert set(seats) == {"x", "o"}
        for move in (m for m in record.episode.moves if m.step == index):
            shown = seats[move.seat]
            assert re.findall(r'<bdi class="words played">(.*?)</bdi>', shown) == [move.action]
            assert re.findall(r'<div class="reply r-(\w+)">', shown) == [one.verdict for one in move.tries]
            hashes = re.findall(r"hash=(\w+)", shown)
            assert hashes == (move.pictures or hashes)
            assert len(hashes) == 1
            [mark] = re.findall(r'data-mark="(\w+)"', shown)
            assert mark == ("verified" if move.pictures else "none")
            marks.add(mark)
        idle = {"x", "o"} - {m.seat for m in record.episode.moves if m.step == index}
        word = "final position" if index == len(record.episode.moves) else "did not act"
        assert all(word in seats[seat] for seat in idle)
        picture = await client.get(f"/episode-picture/{RUN}?{query}&step={index}&seat=x&number=0")
        image = Image.open(io.BytesIO(await picture.read()))
        assert image.size == (512, 512)
    assert marks == {"verified", "none"}
    assert (await client.get(f"/episode-step/{RUN}?{query}&step={index + 1}")).status == 404
    assert (await client.get(f"/episode-picture/{RUN}?{query}&step=0&seat=z")).status == 404
    verified = await (await client.get(f"/episode-verify/{RUN}?{query}")).json()
    assert verified["verified"]["pictures"] == verify(record.episode).pictures


async def test_prompts_are_those_of_the_report(reported_runs: Path, serve: Serve) -> None:
    folder = reported_runs / "first" / "reported"
    [record] = [r for r in read_records(folder) if r.key == "rude:turns:0:0"]
    client = await serve(reported_runs)
    replay = EpisodeReplay(record.key, record.episode)
    moves = [move for move in record.episode.moves if move.seat == "x"]
    for move in reversed(moves):  # later moves first: earlier ones must still be found
        address = f"/episode-prompt/{RUN}?key=rude%3Aturns%3A0%3A0&step={move.step}&seat=x"
        _, *prompts = (await text_of(client, address)).split('<div class="messages">')
        expected = replay.prompts(move.step, "x")
        assert len(prompts) == len(expected) == len(move.tries)
        for shown, messages in zip(prompts, expected, strict=True):
            texts = re.findall(
                r'<div class="message (\w+)">.*?<bdi class="words">(.*?)</bdi>', shown, re.DOTALL
            )
            assert [role for role, _ in texts] == [m.role for m in messages]
            assert "Your legal actions" in texts[-1][1] or len(texts) > 2
            assert "[picture]" in shown
    bot = await text_of(client, f"/episode-prompt/{RUN}?key=rude%3Aturns%3A0%3A0&step=1&seat=o")
    assert bot.split() == ["<div", 'class="messages">', "</div>"]


async def test_a_picture_that_differs_is_marked(tmp_path: Path, serve: Serve, reported_runs: Path) -> None:
    shutil.copytree(reported_runs / "first" / "reported", tmp_path / "changed")
    file = tmp_path / "changed" / EPISODES
    key, offset = first(tmp_path / "changed", "seer", "see")
    data = file.read_bytes()
    line = data[offset : data.index(b"\n", offset)]
    [hashed] = re.findall(rb'"pictures":\["([0-9a-f]+)"', line)
    file.write_bytes(data.replace(line, line.replace(hashed, hashed[::-1])))
    client = await serve(tmp_path)
    query = f"key={quote(key, safe='')}&at={offset}"
    step = await text_of(client, f"/episode-step/changed?{query}&step=0")
    assert 'data-mark="differs"' in seats_of(step)["viewer"]
    verified = await (await client.get(f"/episode-verify/changed?{query}")).json()
    assert "pictures" in verified["problem"]


async def test_the_offset_must_be_that_of_the_episode(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    key, offset = first(reported_runs / "first" / "reported", "rude", "turns")
    for at in (0, offset + 1, 10**14):
        await text_of(client, f"/episode/{RUN}?key={quote(key, safe='')}&at={at}", 404)
    await text_of(client, f"/episode/{RUN}?key=rude&at=", 404)
    assert key in unescape(await text_of(client, f"/episode/{RUN}?key={quote(key, safe='')}"))


async def test_two_episodes_of_one_seed(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    await read_whole(client, RUN)
    text = unescape(await text_of(client, f"/episode/{RUN}?key=rude%3Aturns%3A0%3A0"))
    others = set(re.findall(r"with_key=([^&]+)&", text))
    assert {"seer%3Aturns%3A0%3A0", "random%3Aturns%3A0%3A1", "rude%3Aturns%3A0%3A1"} <= others
    assert all(other.split("%3A")[1:3] == ["turns", "0"] for other in others)
    both = await text_of(client, f"/episode/{RUN}?key=rude%3Aturns%3A0%3A0&with_key=seer%3Aturns%3A0%3A0")
    assert both.count('<article class="panel"') == 2
    other = f"with_run={quote(RUN, safe='')}&with_key=seer%3Aturns%3A0%3A0"
    both = await text_of(client, f"/episode/{RUN}?key=rude%3Aturns%3A0%3A0&{other}")
    assert both.count('<article class="panel"') == 2
    for wrong in ("with_run=..%2Fetc&with_key=x", "with_key=x"):
        await text_of(client, f"/episode/{RUN}?key=rude%3Aturns%3A0%3A0&{wrong}", 404)


@pytest.mark.parametrize(("kind", "name"), [("gif", "GIF"), ("png", "PNG")])
async def test_downloads(kind: str, name: str, reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    reply = await client.get(f"/episode-file/{RUN}?key=rude%3Aturns%3A0%3A0&seat=x&format={kind}")
    assert reply.headers["Content-Disposition"] == f'attachment; filename="tic_tac_toe-0-x.{kind}"'
    image = Image.open(io.BytesIO(await reply.read()))
    assert image.format == name
    [record] = [r for r in read_records(reported_runs / "first" / "reported") if r.key == "rude:turns:0:0"]
    if kind == "gif":
        assert image.n_frames == len(record.episode.moves) + 1  # type: ignore[attr-defined]
    assert (await client.get(f"/episode-file/{RUN}?key=rude%3Aturns%3A0%3A0&seat=x&format=exe")).status == 404


async def test_markup_of_players_is_text(reported_runs: Path, serve: Serve) -> None:
    client = await serve(reported_runs)
    for path in (f"/run/{RUN}", f"/episode/{RUN}?key=rude%3Aturns%3A0%3A0"):
        text = await text_of(client, path)
        assert "<script>alert" not in text
        assert "\u202e" not in text


async def test_an_episode_of_an_unknown_suite_can_be_replayed(tmp_path: Path, serve: Serve) -> None:
    await played(tmp_path / "odd", plan_of("bot/random", suite=TURNS, limit=2))
    key, _ = first(tmp_path / "odd", "bot/random", "turns")
    plan = tmp_path / "odd" / "run.json"
    plan.write_bytes(plan.read_bytes().replace(b"tests.support.suites:TURNS", b"os:system"))
    client = await serve(tmp_path)
    assert '<article class="panel"' in await text_of(client, f"/episode/odd?key={quote(key, safe='')}")


async def test_an_episode_of_another_version_is_explained(
    tmp_path: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ludens.games.tic_tac_toe import TicTacToe

    await played(tmp_path / "old", plan_of("bot/random", suite=TURNS, limit=2))
    key, _ = first(tmp_path / "old", "bot/random", "turns")
    monkeypatch.setattr(TicTacToe, "version", TicTacToe.version + 1)
    client = await serve(tmp_path)
    query = f"key={quote(key, safe='')}"
    assert "installed version" in await text_of(client, f"/episode/old?{query}")
    assert (await client.get(f"/episode-step/old?{query}&step=0")).status == 404
    assert (await client.get(f"/episode-file/old?{query}&seat=x&format=gif")).status == 400


def test_no_class_is_styled_by_two_sheets() -> None:
    """All sheets are sent as one: a rule for the pictures of one page must not apply to those of another."""
    folder = Path(pages.__file__).parent / "static"
    sheets = [*(REPORT_TEMPLATES / name for name in STYLES), *sorted(folder.glob("*.css"))]
    leading = [
        {
            name[0]
            for rule in re.findall(r"([^{}]+){", re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL))
            for selector in rule.split(",")
            if (name := re.match(r"\.[\w-]+", selector.strip()))
        }
        for sheet in sheets
    ]
    assert all(len(names) > 10 for names in leading)
    assert not [one & other for one, other in combinations(leading, 2) if one & other]
