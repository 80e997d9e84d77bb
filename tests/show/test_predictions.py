"""A prediction locks; nothing shows the answer before that."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from lockstep import predict, progress, reconcile
from lockstep.errors import UsageError
from lockstep.show.prediction_field import parse
from lockstep.show.reconciliation import Comparison

QUESTION = "How many ms?"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3), (" 0.5 ", 0.5), ("2,5", 2.5), ("1e-3", 1e-3), ("1,5e3", 1500), ("-4", -4), ("−4", -4), (".5", 0.5),
        ("3 ms", 3), ("3ms", 3), ("1000", 1000),
    ],
)  # fmt: skip
def test_what_is_a_number(text: str, value: float) -> None:
    assert parse(text, "ms") == value


@pytest.mark.parametrize(
    "text", ["", "  ", "three", "3 s", "1/2", "nan", "inf", "1e999", "1 000", "1,000", "1,000,000", "3ms2"]
)
def test_what_is_none_gets_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse(text, "ms")
    assert len(refused.value.message) < 140


def test_an_ambiguous_comma_is_told_in_both_readings() -> None:
    with pytest.raises(UsageError, match=r"write 1000, or 1\.000"):
        parse("1,000")


def test_a_plain_call_commits_at_once_and_it_lasts() -> None:
    first = predict("ring-64", QUESTION, unit="ms", value=3)
    assert (first.locked, first.value, first.message) == (True, 3, "Committed: 3 ms.")
    again = predict("ring-64", QUESTION, unit="ms")
    assert (again.locked, again.shown, again.value) == (True, "3", 3)
    assert "It stays" in again.message


def test_a_second_commitment_changes_nothing_and_says_so() -> None:
    predict("ring-64", QUESTION, unit="ms", value=3)
    second = predict("ring-64", QUESTION, unit="ms", value=7)
    assert (second.value, second.message) == (3, "You had committed 3 ms before, and that stands.")


def test_the_button_refuses_words_and_stays_open() -> None:
    field = predict("ring-64", QUESTION, unit="ms")
    field._handle_custom_msg({"commit": "about three"}, [])
    assert (field.locked, field.refused) == (False, True)
    assert field.message == "“about three” is not a number. Write one number, such as 12, 0.5, 2,5 or 1e-3, in ms."
    field._handle_custom_msg({"commit": "2,5"}, [])
    assert (field.locked, field.refused, field.value) == (True, False, 2.5)


def test_two_fields_of_one_name_cannot_both_win() -> None:
    one, other = predict("a", QUESTION), predict("a", QUESTION)
    one.commit("1")
    other.commit("2")
    assert one.value == other.value == 1
    assert other.shown == "1"


@pytest.mark.parametrize("junk", [None, {}, {"commit": 3}, "commit", []])
def test_messages_without_sense_are_ignored(junk: object) -> None:
    field = predict("ring-64", QUESTION)
    field._handle_custom_msg(junk, [])
    assert not field.locked


def test_bad_values_are_refused_in_a_plain_call() -> None:
    with pytest.raises(UsageError):
        predict("ring-64", QUESTION, value="three")
    with pytest.raises(UsageError):
        predict("ring-64", QUESTION, value=float("nan"))
    with pytest.raises(UsageError, match="name and a question"):
        predict("", QUESTION)
    assert progress.prediction("ring-64") is None


def test_without_a_browser_the_field_tells_what_to_call() -> None:
    data, _ = predict("ring-64", QUESTION, unit="ms")._repr_mimebundle_()
    assert "predict('ring-64', ..., value=...)" in data["text/plain"]
    assert "No prediction is committed" in data["image/svg+xml"]


def test_before_the_commitment_nothing_of_the_answer_leaves_python() -> None:
    shown = reconcile("ring-64", simulated=123.456, measured=654.321)
    everything = json.dumps([shown.get_state(), shown._repr_mimebundle_()[0]], default=str)
    assert "Commit your prediction first" in everything
    assert "123" not in shown.svg() + shown.caption() + shown.drawing
    assert "654" not in shown.svg() + shown.caption() + shown.drawing
    assert "123.456" not in everything
    with pytest.raises(UsageError, match="Commit your prediction first"):
        shown.explain("because")


def test_after_it_all_three_stand_side_by_side() -> None:
    predict("ring-64", QUESTION, unit="ms", value=2)
    shown = reconcile("ring-64", simulated=4, measured=10)
    assert shown.caption() == (
        "How many ms? predicted 2 ms, simulated 4 ms, measured 10 ms. "
        "simulated is 2 × predicted; measured is 5 × predicted; measured is 2.5 × simulated."
    )
    assert all(f"{v} ms" in shown.svg() for v in (2, 4, 10))


def test_the_reason_is_kept() -> None:
    predict("ring-64", QUESTION, value=2)
    reconcile("ring-64", measured=4)._handle_custom_msg({"reason": "gloo copies twice"}, [])
    assert reconcile("ring-64", measured=4).reason == "gloo copies twice"
    reconcile("ring-64", measured=4, reason="no: the link is slow")
    kept = progress.prediction("ring-64")
    assert kept is not None
    assert kept.reason == "no: the link is slow"


def test_who_was_right_is_not_asked_why_they_differ() -> None:
    """A learner had predicted 10.5, the simulation gave 10.49, and the field asked: why do they differ?"""
    predict("ring-64", QUESTION, value=10.5)
    assert reconcile("ring-64", simulated=10.49).prompt.startswith("They agree.")
    assert reconcile("ring-64", simulated=10.49, measured=20).prompt.startswith("Why do they differ?")


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_numbers_that_cannot_be_drawn_are_refused(bad: float) -> None:
    with pytest.raises(UsageError, match="measured is"):
        reconcile("ring-64", measured=bad)


def lengths(comparison: Comparison) -> list[float]:
    rects = ElementTree.fromstring(comparison.svg()).iter("{http://www.w3.org/2000/svg}rect")
    return [float(e.get("width", 0)) for e in rects if "data-value" in e.attrib]


def test_64_beside_3_1_does_not_look_like_3_7_to_1() -> None:
    """Both bars began at a third of the smaller value. Beyond ten to one there are no bars, but dots on an axis."""
    far, near = Comparison("?", "ms", 64, 3.1), Comparison("?", "ms", 64, 16.0, 8.0)
    assert lengths(far) == []
    assert ">100<" in far.svg()
    assert "logarithmic axis" in far.svg()
    long, middle, short = lengths(near)
    assert (long / short, middle / short) == pytest.approx((8, 2), rel=0.01)
    assert "bars from zero" in near.svg()


def test_zero_and_less_are_bars_on_either_side_of_zero() -> None:
    none, some = lengths(Comparison("?", "", 0, None, 5))
    assert none < 1 < 100 < some
    left, right = lengths(Comparison("?", "", -2, None, 4))
    assert right / left == pytest.approx(2, rel=0.01)
    assert Comparison("?", "", -1, None, 5).ratios() == []
    assert len(lengths(Comparison("?", "", 0))) == 1


def test_equal_numbers_are_called_equal() -> None:
    assert Comparison("?", "", 3, 3.001).ratios() == ["simulated = predicted"]
