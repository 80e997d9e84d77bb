"""The finished site in Chromium: what its visitors would meet. `make site` ends with it.

No page leads nowhere, says an error on the console or asks the network for something; every figure has a name; the
first page weighs less than 300 kB before its figures; contrast is enough for axe-core, in light and in dark.
"""

from __future__ import annotations

import http.server
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

FIRST_PAGE = 300_000  # bytes, before figures
NAMELESS = """() => [
  ...[...document.querySelectorAll('.ls-figure')].filter((e) => !e.getAttribute('aria-label')?.trim()),
  ...[...document.querySelectorAll('article img')]
    .filter((e) => !e.hasAttribute('alt') || e.naturalWidth === 0),
  ...[...document.querySelectorAll('.ls-place:not(.ls-alive) img.ls-still')].filter((e) => !e.alt.trim()),
].map((e) => e.outerHTML.slice(0, 120))"""
CONTRAST = """async () => (await axe.run(document, {
  runOnly: ['color-contrast', 'image-alt', 'link-name', 'button-name'],
})).violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 140)} ${n.any[0]?.message ?? ''}`))"""
OPEN = """() => {
  for (const each of document.querySelectorAll('details')) each.open = true;
  for (const each of document.images) each.loading = 'eager';
}"""
# What moves is at its end, as a visitor sees it a moment later: what is opened fades in, and half faded it is pale.
SETTLE = """async () => {
  for (const each of document.getAnimations()) {
    if (each.effect.getComputedTiming().endTime === Infinity) each.cancel(); else each.finish();
  }
  await Promise.all([...document.images].filter((e) => !e.complete).map((e) => new Promise((come) => {
    for (const told of ['load', 'error']) e.addEventListener(told, come);
  })));
}"""
# Figures that have a state of their own, and are still pictures; the others wait for a kernel, which is not here.
STILL = r"""() => [...document.querySelectorAll('script[type=module]')]
  .flatMap((e) => [...e.textContent.matchAll(/^live\(render, "([\w-]+)", (?!null\);)/gm)].map((found) => found[1]))
  .filter((key) => document.querySelector(`.ls-${CSS.escape(key)}:not(.ls-alive)`))"""
ALIVE = f"() => ({STILL})().length === 0"  # no promise: playwright takes one for true, whatever comes of it
FORMULAS = """limit => Promise.race([
  Promise.resolve(globalThis.MathJax?.startup?.promise).then(() => true),
  new Promise((come) => setTimeout(come, limit, false)),
])"""
PATIENCE = 60_000  # milliseconds, for figures to come alive
KINDS = ("exercises/", "gallery/", "api/")  # axe-core looks at the first few pages of these, and at all others
FEW = 4


# ---- Without a browser: where links lead


class _Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        self.links += [value for name in ("href", "src") if (value := given.get(name))]


def read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def dead_links(site: Path) -> Iterator[str]:
    """One line for each link that leads to no file of the site, or to no place in it. Other sites are not asked."""
    pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        for link in sorted(set(page.links)):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file():
                yield f"{path.relative_to(site)}: {link} leads to no file"
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors:
                yield f"{path.relative_to(site)}: {link} leads to no place in that page"


# ---- In a browser


@contextmanager
def served(site: Path) -> Iterator[str]:
    """The site's address on this machine."""
    handler = partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *told: object) -> None:
        pass


def axe() -> str:
    """axe-core, as a package of PyPI brings it."""
    package = find_spec("axe_playwright_python")
    assert package
    assert package.submodule_search_locations
    return (Path(package.submodule_search_locations[0]) / "axe.min.js").read_text(encoding="utf-8")


def chromium() -> str | None:
    """A browser of this machine, or None for the one that playwright has installed."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Visit:
    """A window on the site, without any other network. ``faults`` are told line by line."""

    def __init__(self, browser: Any, address: str, scheme: str = "light") -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
        self.page, self.address, self.at = self.context.new_page(), address, ""
        self.faults: list[str] = []
        self.bytes: dict[str, int] = {}
        self.page.on("console", lambda m: self._fault(f"console: {m.text}") if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self._fault(f"error: {error}"))
        self.page.on("requestfailed", self._not_loaded)
        self.page.on("response", self._weigh)
        self.page.route(lambda url: not url.startswith((address, "data:", "blob:")), lambda route: route.abort())

    def _fault(self, told: str) -> None:
        self.faults.append(f"{self.at}: {told}")

    def _not_loaded(self, request: Any) -> None:
        """But for a picture of this site that was on its way when the next page was opened."""
        if request.failure != "net::ERR_ABORTED" or not request.url.startswith(self.address):
            self._fault(f"not loaded: {request.url[:200]}")

    def _weigh(self, response: Any) -> None:
        if response.url.startswith(self.address):
            self.bytes[response.url] = int(response.headers.get("content-length", 0))

    def open(self, path: str) -> None:
        from playwright.sync_api import TimeoutError as TooLate

        self.at = path
        self.bytes = {}
        self.page.goto(f"{self.address}/{path}", wait_until="load")
        if not self.page.evaluate(FORMULAS, PATIENCE):
            self._fault("its formulas are never set")
        try:
            self.page.wait_for_function(ALIVE, timeout=PATIENCE)
        except TooLate:
            self._fault(f"not alive: {', '.join(self.page.evaluate(STILL))}")

    def look(self) -> None:
        """Open all that waits, let it come to rest, and ask each figure its name."""
        self.page.evaluate(OPEN)
        self.page.evaluate(SETTLE)
        for nameless in self.page.evaluate(NAMELESS):
            self._fault(f"no name: {nameless}")

    def contrast(self, tool: str) -> None:
        self.page.evaluate(tool)
        for told in self.page.evaluate(CONTRAST):
            self._fault(f"axe-core, {told}")


def weight(visit: Visit) -> int:
    """What the first page loads, in bytes, before its figures."""
    visit.open("index.html")
    return sum(
        size for url, size in visit.bytes.items() if not url.endswith((".svg", ".png")) and "/figures/" not in url
    )


def chosen(paths: Iterable[str]) -> set[str]:
    """The pages that axe-core looks at."""
    listed = sorted(paths)
    few = {path for kind in KINDS for path in [p for p in listed if p.startswith(kind)][:FEW]}
    return few | {path for path in listed if not path.startswith(KINDS)}


def faults(site: Path, say: Callable[[str], None] = lambda _: None) -> list[str]:
    """Everything that is wrong with the site, a line each."""
    from playwright.sync_api import sync_playwright

    found = list(dead_links(site))
    pages = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    tool, contrasted = axe(), chosen(pages)
    with sync_playwright() as playwright, served(site) as address:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        light, dark = Visit(browser, address), Visit(browser, address, "dark")
        weighs = weight(light)
        say(f"the first page weighs {weighs / 1000:.0f} kB before its figures")
        if weighs > FIRST_PAGE:
            found.append(f"index.html: {weighs:,} bytes before figures; at most {FIRST_PAGE:,}")
        for number, path in enumerate(pages):
            for visit in (light, dark) if path in contrasted else (light,):
                visit.open(path)
                visit.look()
                if path in contrasted:
                    visit.contrast(tool)
            if number % 25 == 0:
                say(f"{number} of {len(pages)} pages")
        browser.close()
    return [*found, *light.faults, *dark.faults]


def main(site: Path) -> int:
    found = faults(site, lambda told: print(f"==> site: {told}", flush=True))
    print("\n".join(found), file=sys.stderr)
    print(f"==> site: {len(found)} faults" if found else "==> site: no faults")
    return bool(found)
