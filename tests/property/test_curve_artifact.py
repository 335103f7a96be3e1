"""Whatever a curve holds, its file gives it back; and shards add up however they are split."""

from __future__ import annotations

import json
import math

import numpy as np
from curve_builder import curve, measured, point, records
from hypothesis import given, settings
from hypothesis import strategies as st

from sweep.curve import artifact
from sweep.curve.shards import add
from sweep.errors import ArtifactError
from sweep.model import Estimate, Fact

NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53).map(float)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=50, deadline=None)
@given(value=NUMBERS, low=NUMBERS, fact=VALUES, text=st.text(max_size=40))
def test_any_curve_comes_back_and_is_written_the_same_again(value, low, fact, text: str) -> None:
    odd = point(1, energy_j=value, rates={"req_per_s": Estimate(value=value, low=low)}, started_at=text)
    made = curve(odd, software={"flags": Fact(value=fact, known="declared")})
    raw = artifact.to_json(made)
    back = artifact.loads(raw)
    assert artifact.to_json(back) == raw
    assert back.points[0].started_at == text
    stored = back.points[0].energy_j
    assert stored is None if value is None else math.isclose(stored, value, rel_tol=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_in_which_facts_were_noted_does_not_change_the_file(random) -> None:
    made = curve()
    facts = list(made.scenario.items())
    random.shuffle(facts)
    assert artifact.to_json(curve(scenario=dict(facts))) == artifact.to_json(made)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.integers(0, 3000))
def test_no_damage_goes_unnoticed(noise: bytes, at: int) -> None:
    """Any bytes put in any place: the file is refused, or says the same as before."""
    raw = artifact.to_json(curve(point(1)))
    damaged = raw[:at] + noise + raw[at + len(noise) :]
    said = refusal(damaged)
    if said is None:
        assert json.loads(damaged) == json.loads(raw)
    else:
        assert "\n" not in said


def refusal(raw: bytes) -> str | None:
    try:
        artifact.loads(raw)
    except ArtifactError as error:
        return error.message
    return None


OWN = records(n=200, seed=11, fail_every=13)
WHOLE = measured(OWN, 8)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=len(OWN), max_size=len(OWN)), st.permutations(range(4)))
def test_shards_add_up_however_requests_are_split_and_in_any_order(owner: list[int], order) -> None:
    shards = [OWN.where(np.array(owner) == worker) for worker in order if worker in owner]
    added = add([measured(shard, 8 / len(shards)) for shard in shards])
    assert added.joint == WHOLE.joint
    assert added.histograms == WHOLE.histograms or len(shards) == 1
    assert (added.cohort, added.outcomes, added.token_sources) == (WHOLE.cohort, WHOLE.outcomes, WHOLE.token_sources)
