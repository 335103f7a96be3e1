"""`python -m sweep.sim OPTIONS`: the simulated endpoint as a process, for `server.start`.

OPTIONS is `Options` as JSON. The first line of output is the base URL; the endpoint ends when its standard input closes.
"""

from __future__ import annotations

import sys

import msgspec

from sweep.errors import SweepError
from sweep.sim.options import Options
from sweep.sim.server import serve


def main(said: str) -> int:
    options = msgspec.json.decode(said, type=Options)
    try:
        serve(options, lambda url: print(url, flush=True), until_stdin_closes=True)
    except SweepError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
