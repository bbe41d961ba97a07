"""Pages and static files of the browser app."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from aiohttp import web
from jinja2 import Environment

from ludens.run.report.html import TEMPLATES as REPORT_TEMPLATES
from ludens.run.report.html import make_environment
from ludens.web.security import checks_own_token

_FOLDER = Path(__file__).parent
STYLE = "style.css"
_TYPES = {".css": "text/css", ".js": "text/javascript"}


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of the app and, for what they share, of reports."""
    return make_environment(_FOLDER / "templates", REPORT_TEMPLATES)


def page(template: str, *, status: int = 200, **context: Any) -> web.Response:
    """A whole page, or a part of one."""
    text = environment().get_template(template).render(**context)
    return web.Response(text=text, status=status, content_type="text/html")


@lru_cache(maxsize=1)
def static_files() -> dict[str, bytes]:
    """Every static file: the modules, and one style sheet that begins with that of reports."""
    files = {file.name: file.read_bytes() for file in sorted((_FOLDER / "static").glob("*.js"))}
    sheets = [REPORT_TEMPLATES / "page.css", *sorted((_FOLDER / "static").glob("*.css"))]
    files[STYLE] = b"\n".join(sheet.read_bytes() for sheet in sheets)
    return files


@checks_own_token
async def static(request: web.Request) -> web.Response:
    """One of `static_files`: the name is looked up, never joined to a path."""
    name = request.match_info["name"]
    data = static_files().get(name)
    if data is None:
        raise web.HTTPNotFound(text="There is no such file.")
    tag = sha256(data).hexdigest()[:32]
    headers = {"Cache-Control": "no-cache", "ETag": f'"{tag}"'}
    if any(etag.value == tag for etag in request.if_none_match or ()):
        return web.Response(status=304, headers=headers)
    kind = _TYPES[Path(name).suffix]
    return web.Response(body=data, content_type=kind, charset="utf-8", headers=headers)
