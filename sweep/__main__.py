"""Where the command line begins, as `sweep` and as `python -m sweep`: Ctrl-C is heard before anything else is imported."""

from __future__ import annotations

import os
import signal


def leave(*_: object) -> None:
    """Nothing has begun yet that would have to end."""
    os.write(2, b"error: interrupted\n")
    os._exit(130)


def main() -> None:
    heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # a background job does not hear it
    if heard:
        signal.signal(signal.SIGINT, leave)
    from sweep.cli.main import main as command_line  # a tenth of a second

    try:
        if heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command_line()
    except KeyboardInterrupt:
        leave()


if __name__ == "__main__":
    main()
