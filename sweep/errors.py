"""Everything a user can run into, as one tree. Each class fixes the exit code.

    SweepError                 1
    ├── UsageError             2   arguments, profile, SLO, output folder
    │   ├── ProfileError
    │   ├── SloError
    │   └── OutputError
    ├── EndpointError          3   unreachable, refused, nothing succeeded
    │   └── ModelError         2   which model is meant is not clear
    ├── TrustError             4   every point disqualified, file does not hold, unfair comparison
    │   └── ArtifactError          a curve file that cannot be read
    └── Interrupted          130   stopped by the user; what was measured is kept

A message is one line that says what happened; `hint` is one line that says what to do next.
"""

from __future__ import annotations


class SweepError(Exception):
    exit_code = 1

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SweepError):
    exit_code = 2


class ProfileError(UsageError):
    pass


class SloError(UsageError):
    pass


class OutputError(UsageError):
    pass


class EndpointError(SweepError):
    exit_code = 3


class ModelError(EndpointError):
    exit_code = 2


class TrustError(SweepError):
    exit_code = 4


class ArtifactError(TrustError):
    pass


class Interrupted(SweepError):
    exit_code = 130
