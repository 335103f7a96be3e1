"""`python -m sweep.sim`: the simulated endpoint as a process. Its first line of output is its base URL."""

from __future__ import annotations

import argparse
import sys
from dataclasses import fields

from sweep.errors import SweepError
from sweep.sim.options import FLAGS, Options
from sweep.sim.server import serve

KINDS = {"str": str, "str | None": str, "int": int, "int | None": int, "float": float}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sweep.sim", description=__doc__, allow_abbrev=False)
    for option in fields(Options):
        flag = f"--{FLAGS.get(option.name, option.name).replace('_', '-')}"
        if option.type == "bool":
            parser.add_argument(flag, action="store_true", dest=option.name)
        elif option.name in FLAGS:
            parser.add_argument(flag, action="append", default=[], dest=option.name)
        else:
            parser.add_argument(flag, type=KINDS[str(option.type)], default=option.default, dest=option.name)
    parser.add_argument("--until-stdin-closes", action="store_true")
    told = vars(parser.parse_args())
    until_stdin_closes = told.pop("until_stdin_closes")
    options = Options(**told | {"faults": tuple(told["faults"])})
    try:
        options.check()
        serve(options, lambda url: print(url, flush=True), until_stdin_closes=until_stdin_closes)
    except SweepError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"hint: {error.hint}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
