"""What learners and instructors do in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness import Lab
from house import PASSWORDS, ROOT, House
from playwright.sync_api import Browser, Page

SLOW = 120_000  # ms, on a busy machine
POST = """async ([path, body]) => {
  const token = document.cookie.split('; ').find((c) => c.startsWith('_xsrf='))?.slice(6);
  const headers = { 'X-XSRFToken': token, 'Content-Type': 'application/json' };
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return [answer.status, await answer.text()];
}"""


class Person:
    """One of the people, in a browser window of their own."""

    def __init__(self, name: str, house: House, page: Page) -> None:
        self.name, self.house, self.page = name, house, page
        page.set_default_timeout(SLOW)

    def sign_in(self, place: str) -> None:
        """Open a page of the hub; it asks who that is."""
        self.page.goto(f"{self.house.address}{place}")
        self.page.fill("#username_input", self.name)
        self.page.fill("#password_input", PASSWORDS[self.name])
        self.page.click("#login_submit")

    def in_menu(self, menu: str) -> list[str]:
        """What JupyterLab offers there."""
        self.page.locator(".lm-MenuBar-itemLabel").get_by_text(menu, exact=True).click()
        labels = self.page.locator(".lm-Menu:visible .lm-Menu-itemLabel")
        labels.first.wait_for()
        return [label for label in labels.all_inner_texts() if label]

    def status_of(self, place: str) -> int:
        answer = self.page.goto(f"{self.house.address}{place}")
        assert answer is not None
        return answer.status

    def post(self, place: str, body: object = None) -> Any:
        """What a button of nbgrader's pages sends, from the page that is open; what comes back, which says success."""
        status, text = self.page.evaluate(POST, [place, body or {}])
        assert status == 200, (place, status, text)
        answer = json.loads(text)
        assert answer.get("success", True), (place, answer)
        return answer

    def lab(self) -> Lab:
        return OwnLab(self.page, f"{self.house.address}/user/{self.name}", ROOT / "tests" / "screenshots")


class OwnLab(Lab):
    """JupyterLab under a hub: each has an address of their own, and no token."""

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}/lab/tree/{path}?reset")
        self._wait_for_notebook(path)


@contextmanager
def person(name: str, house: House, browser: Browser) -> Iterator[Person]:
    (ROOT / "tests" / "screenshots").mkdir(exist_ok=True)
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, service_workers="block")
    try:
        yield Person(name, house, context.new_page())
    finally:
        context.close()


def shot(person: Person, name: str) -> Path:
    path = ROOT / "tests" / "screenshots" / f"hub-{name}.png"
    person.page.screenshot(path=path)
    return path
