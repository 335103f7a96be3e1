"""Why a cell ended."""

from __future__ import annotations

DURATION, LONG_ENOUGH, WHOLE_SET = "duration", "long enough", "the whole set is answered"
CAP, TOKEN_CAP, TIME_CAP = "cap", "token cap", "budget"
BUDGET = "as precise as its time allows"
OUTDONE = "a smaller load delivers more"
NO_SUCCESS, MOST_FAIL, MOST_REFUSED = "no request succeeds", "most requests fail", "most requests are refused as over capacity"
OVERLOAD = "offered > capacity"

ABORTED = frozenset({NO_SUCCESS, MOST_FAIL, MOST_REFUSED, OVERLOAD})  # after which a point proves nothing
UNRESOLVED = frozenset({CAP, TOKEN_CAP, TIME_CAP, BUDGET, OUTDONE})  # before everything asked of the cell was known
