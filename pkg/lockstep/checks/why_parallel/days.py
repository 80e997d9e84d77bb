"""``training_days``: arithmetic with units, and the units and factors that go wrong."""

from __future__ import annotations

import random

from lockstep.checks.case import Case
from lockstep.checks.exercise import Exercise
from lockstep.checks.judge import Finding
from lockstep.checks.observation import Observation
from lockstep.checks.why_parallel.formulas import Asked, Call, Wrong, number

POINTS = 2
DAY = 24 * 60 * 60


def right_days(params: float, tokens: float, devices: int, peak: float, utilisation: float) -> float:
    return 6 * params * tokens / (devices * peak * utilisation) / DAY


def _days(message: str, id: str, factor: float) -> Wrong:
    return Wrong(id, message, lambda *call: factor * right_days(*call))


DAYS_WRONG = (
    _days("You count 2 FLOP for each parameter and token: that is the forward pass alone. Training also runs backward, "
          "which takes 4 more.", "forward-only", 2 / 6),
    _days("You count 4 FLOP for each parameter and token: that is the backward pass alone. The forward pass takes 2 "
          "more.", "backward-only", 4 / 6),
    _days("You count one FLOP for each parameter and token. It takes 6: 2 forward, 4 backward.", "one-flop", 1 / 6),
    _days("You count 3 FLOP for each parameter and token. A multiplication and an addition are two: 2 forward, 4 "
          "backward.", "half-the-flops", 3 / 6),
    Wrong("ignores-utilisation", "It looks as if every device reached its peak: it reaches the share utilisation.",
          lambda n, d, k, peak, u: right_days(n, d, k, peak, 1)),
    Wrong("multiplies-utilisation", "A lower utilisation makes the training longer: divide by it.",
          lambda n, d, k, peak, u: right_days(n, d, k, peak, 1) * u),
    Wrong("utilisation-twice", "It looks as if you divide by the utilisation twice.",
          lambda n, d, k, peak, u: right_days(n, d, k, peak, u * u)),
    Wrong("percent", "It looks as if utilisation were a percentage. It is a share: 0.4 for 40 %.",
          lambda n, d, k, peak, u: right_days(n, d, k, peak, u / 100)),
    Wrong("rest-of-utilisation", "You take 1 - utilisation. The devices reach the share utilisation of their peak; the "
          "rest is lost.", lambda n, d, k, peak, u: right_days(n, d, k, peak, 1 - u)),
    Wrong("adds-tokens", "You add tokens to parameters. Every token passes through every parameter: multiply.",
          lambda n, d, k, peak, u: right_days(1, n + d, k, peak, u)),
    Wrong("devices-twice", "It looks as if you divide by the devices twice.",
          lambda n, d, k, peak, u: right_days(n, d, k * k, peak, u)),
    Wrong("one-device", "It looks as if one device did it all: divide by devices.",
          lambda n, d, k, peak, u: right_days(n, d, 1, peak, u)),
    Wrong("multiplies-devices", "More devices take less time: divide by devices.",
          lambda n, d, k, peak, u: right_days(n, d, 1, peak, u) * k),
    Wrong("brackets", "a / b * c multiplies by c. You divide by devices alone, and multiply by peak and utilisation: "
          "put brackets around devices * peak * utilisation.",
          lambda n, d, k, peak, u: right_days(n, d, 1, 1, 1) / k * peak * u),
    _days("a / b * c multiplies by c. You divide by 24 alone, and multiply by 60 * 60: put brackets around the seconds "
          "of a day.", "brackets", DAY / 24 * 60 * 60),
    _days("You return seconds: a day has 24 * 60 * 60 of them.", "seconds-not-days", DAY),
    _days("You return hours: a day has 24 of them.", "hours-not-days", 24),
    _days("You return minutes: a day has 24 * 60 of them.", "minutes-not-days", 24 * 60),
    _days("You take a day for 24 * 60 seconds: these are its minutes, of 60 seconds each.", "minutes-not-days", 60),
    _days("You return years.", "years-not-days", 1 / 365.25),
    _days("You return years.", "years-not-days", 1 / 365),
    _days("You take a day for 60 * 60 seconds: that is an hour.", "hours-not-days", 24),
    _days("It looks as if peak were in TFLOP/s, 1e12 a second. It is in FLOP/s already.", "tera-twice", 1e-12),
    Wrong("ignores-tokens", "The tokens are missing: every token passes through the whole model.",
          lambda n, d, k, peak, u: right_days(n, 1, k, peak, u)),
    Wrong("forward-only", "You count 2 FLOP for each parameter and token, and every device at its peak: both the "
          "backward pass and the utilisation are missing.", lambda n, d, k, peak, u: right_days(n, d, k, peak, 1) / 3),
)  # fmt: skip


def _days_cases(ranks: int, seed: int) -> list[Case]:
    return [
        Case(1, seed, settings={"told": "a model on one GPU", "devices": 1}),
        Case(1, seed, settings={"told": "a model on many GPUs", "devices": 0}),
    ]


def days_calls(case: Case, rank: int = 0) -> tuple[Call, ...]:
    """(params, tokens, devices, peak, utilisation): sizes, machines and shares as there are today."""
    draw = random.Random(case.seed)
    rows = []
    for params, peak in ((1.1e9, 312e12), (7e9, 989e12), (70e9, 989e12), (405e9, 2250e12)):
        devices = case.settings["devices"] or draw.choice((8, 48, 512, 1024, 3072, 16384))
        rows.append(
            (params, draw.randint(15, 300) * params, devices, peak, draw.choice((0.28, 0.35, 0.38, 0.43, 0.52)))
        )
    return tuple(rows)


def _told_days(params: float, tokens: float, devices: int, peak: float, utilisation: float) -> str:
    return f"training_days({params:g}, {tokens:g}, {devices}, {peak:g}, {utilisation})"


def _days_told(days: float, digits: int) -> str:
    return f"{number(days, digits)} days"


def _days_steps(params: float, tokens: float, devices: int, peak: float, utilisation: float) -> str:
    flop, rate = 6 * params * tokens, devices * peak * utilisation
    return f"it takes {flop:.4g} FLOP, and all devices together do {rate:.4g} in a second, {flop / rate:.4g} seconds."


DAYS_ASKED = Asked(right_days, _told_days, _days_told, "a number of days, a float,", DAYS_WRONG, _days_steps)


def _judge_days(observation: Observation) -> list[Finding]:
    return DAYS_ASKED.judge(observation, POINTS, days_calls)


DAYS = Exercise(
    id="why_parallel.training_days",
    title="Days of training",
    points=POINTS,
    minutes=15,
    parameters="params, tokens, devices, peak, utilisation",
    cases=_days_cases,
    inputs=days_calls,
    judge=_judge_days,
    reference="lockstep.cost.training:training_days",
    worlds=(1,),
    pure=True,
)
