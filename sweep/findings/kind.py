"""A row of the table of findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Weight = Literal["note", "warning", "disqualifies"]


@dataclass(frozen=True, slots=True)
class Kind:
    """`says` and `further` are `wording.Template`s over the finding's `data`; `advice` is what the user can do next."""

    weight: Weight
    says: str
    advice: str
    further: str = ""  # said too where the finding has all the data for it
