"""The closed table of findings: what was noticed, how much it weighs, what the user can do next.

One row a finding, by its code; terminal, page and file all render from here.
"""

from __future__ import annotations

from sweep.findings.curve import CURVE
from sweep.findings.kind import Weight
from sweep.findings.night import NIGHT
from sweep.findings.point import POINT
from sweep.model import Finding
from sweep.wording import Template

__all__ = ["TABLE", "Weight", "advice", "says", "weight"]

TABLE = POINT | CURVE | NIGHT

_TEMPLATE = Template()


def weight(finding: Finding) -> Weight:
    return TABLE[finding.code].weight


def says(finding: Finding) -> str:
    kind = TABLE[finding.code]
    known = {name: value for name, value in finding.data.items() if value is not None}
    try:
        further = _TEMPLATE.format(kind.further, **known)
    except KeyError:
        further = ""
    return _TEMPLATE.format(kind.says, **finding.data) + further


def advice(finding: Finding) -> str:
    return TABLE[finding.code].advice
