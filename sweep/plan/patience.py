"""How long a request may take before it is given up."""

from __future__ import annotations

from sweep.model import Endpoint, Profile
from sweep.plan import lengths
from sweep.plan.pace import pace_of

SLOWDOWN = 100
SHORTEST_DEADLINE_S = 600.0
SHORTEST_SILENCE_S = 60.0
ASSUMED_TTFT_S = 1.0
ASSUMED_TPOT_S = 0.02


def deadline_s(profile: Profile, endpoint: Endpoint | None) -> float:
    """Seconds after which a request is given up although bytes still drip; the idle timeout catches silence earlier.

    A hundred times what the longest request would take alone (probed TTFT, and probed TPOT for each of its input and output
    tokens: a prompt token never costs more than an output token), at least ten minutes. An honest answer slowed 64-fold by
    the load is so kept with room to spare. Without a probe a lone request is taken to need 1 s and 20 ms a token.
    """
    ttft_s, tpot_s = pace_of(endpoint) or (ASSUMED_TTFT_S, ASSUMED_TPOT_S)
    return max(SHORTEST_DEADLINE_S, SLOWDOWN * (ttft_s + lengths.most_tokens(profile) * tpot_s))


def idle_timeout_s(profile: Profile, endpoint: Endpoint | None) -> float:
    """Seconds of silence after which a request is given up: a quarter of its deadline, at least a minute.

    A server that only queues is honestly silent until a request's turn comes.
    """
    return max(SHORTEST_SILENCE_S, deadline_s(profile, endpoint) / 4)
