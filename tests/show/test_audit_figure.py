"""The audit as a picture: every row with its bars, and what it says of the notes."""

from itertools import pairwise
from xml.etree import ElementTree

from lockstep import show
from lockstep.classical.audit import Verdict
from lockstep.show import svg


def verdict(name: str, kind: str, claim: str = "", **shares: float) -> Verdict:
    return Verdict(name, kind, (), shares, {}, 2, False, False, claim)


ROWS = [
    verdict("KMeans", "openmp", "OpenMP", openmp=0.45, blas=0.0),
    verdict("PCA <full>", "blas", "serial", openmp=0.0, blas=0.5),
    verdict("mine:Forest", "threads", openmp=0.0, blas=0.0, n_jobs=1.0),
]


def test_every_row_is_drawn_with_its_kind_and_the_notes_claim() -> None:
    drawn = show.audit(ROWS).svg()
    texts = ["".join(e.itertext()) for e in ElementTree.fromstring(drawn).iter() if e.tag.endswith("text")]
    for words in ("KMeans", "PCA <full>", "mine:Forest", "OpenMP", "BLAS", "joblib threads", "–"):
        assert words in texts
    assert (texts.count("holds"), texts.count("differs")) == (1, 1)


def test_bars_are_as_long_as_the_share() -> None:
    tree = ElementTree.fromstring(show.audit(ROWS).svg())
    bars = {e[0].text: float(e.get("width", 0)) for e in tree.iter() if e.tag.endswith("rect") and len(e)}
    assert bars["BLAS: 50 % taken over"] * 2 == bars["n_jobs: 100 % taken over"]


def test_the_figure_says_itself_in_words() -> None:
    assert repr(show.audit(ROWS)) == (
        "Who runs in parallel, by which knob. KMeans: OpenMP; PCA <full>: BLAS; mine:Forest: joblib threads."
    )


def test_headings_stand_apart() -> None:
    """ "OpenMP" and "BLAS" touched, and "in parallel by" ended where "the claim" begins."""
    drawn = ElementTree.fromstring(show.audit(ROWS).svg())
    texts = [e for e in drawn.iter() if e.tag.endswith("text") and e.text]
    places = {e.text: float(e.get("x", 0)) for e in reversed(texts)}  # the first of each: a row says "OpenMP", too
    for one, other in pairwise(("OpenMP", "BLAS", "n_jobs", "by")):
        assert places[one] + svg.length(one, is_bold=True) <= places[other]
