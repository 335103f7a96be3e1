"""The command line: one file a command, found by scanning this package.

A module of this package is a command when it defines a function of its own name. `PANEL` in that module says under which
heading `sweep --help` lists it, `PLACE` (a number) where under it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pkgutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.main import get_command

import sweep
import sweep.cli
from sweep.cli.help import Command, Group
from sweep.errors import Interrupted, SweepError, UsageError
from sweep.wording import short

OUTPUT_LOST = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
AGAIN_S = 0.05
LONGEST_ERROR = 1000  # characters
PANELS = ("Measure", "Read", "Judge", "Set up")


def commands() -> Iterator[tuple[str, ModuleType, Callable[..., Any]]]:
    """Every command: its name, its module and its function, in the order of the panels."""
    found = []
    for info in pkgutil.iter_modules(sweep.cli.__path__):
        if info.name == "main":
            continue
        module = import_module(f"sweep.cli.{info.name}")
        function = getattr(module, info.name, None)
        if callable(function):
            found.append((info.name, module, function))
    yield from sorted(found, key=lambda each: (PANELS.index(_panel(each[1])), getattr(each[1], "PLACE", 50), each[0]))


def _panel(module: ModuleType) -> str:
    panel: str = getattr(module, "PANEL", PANELS[-1])
    return panel


def application() -> typer.Typer:
    app = typer.Typer(
        name="sweep",
        cls=Group,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )

    @app.callback(invoke_without_command=True)
    def top(version: Annotated[bool, typer.Option("--version", is_eager=True)] = False) -> None:
        """Drive an AI-inference endpoint across a grid of loads and write one curve file.

        The file answers later questions: which load meets my SLO, who is faster at my interactivity, did last night's build get slower. Without a command, `sweep run`:

            sweep --endpoint http://localhost:8000 --profile 1k-8k
        """
        if version:
            typer.echo(f"sweep {sweep.__version__}")
            raise typer.Exit

    for name, module, function in commands():
        app.command(name.replace("_", "-"), cls=Command, rich_help_panel=_panel(module))(function)
    return app


def run(args: list[str] | None = None) -> int:
    """One command and all it printed; its exit code. What a user can cause is one line and a hint, never a traceback."""
    code = _command(args)
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:
        return _output_lost(error, code)
    return code


def _command(args: list[str] | None) -> int:
    try:
        if "" in (sys.argv[1:] if args is None else args):
            raise UsageError("an argument is empty", "is a variable of your shell not set?")
        code = get_command(application()).main(args, prog_name="sweep", standalone_mode=False)
    except SweepError as error:
        return _fail(error.message, error.hint, error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", None, Interrupted.exit_code)
    except SystemExit as left:  # how rich and typer say that the reader of our output left
        if not isinstance(left.__context__, BrokenPipeError):
            raise
        return _output_lost(left.__context__, 0)
    except OSError as error:
        if error.errno not in OUTPUT_LOST or error.filename:
            raise
        return _output_lost(error, 0)
    except Exception as error:
        said = getattr(error, "format_message", None)
        if said is None:
            raise
        return _fail(_one_line(said()), _where_help_is(error), 2)
    if code == Interrupted.exit_code:  # typer turns Ctrl-C into it
        return _fail("interrupted", None, code)
    return code if isinstance(code, int) else 0


def _output_lost(error: OSError, code: int) -> int:
    """A reader that left (`| head`) has what it wanted; a full disk is the user's to know."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing more to flush at exit
    if isinstance(error, BrokenPipeError):
        return code
    return code or _fail(f"standard output: {error.strerror}", "make room, or send it elsewhere", UsageError.exit_code)


def _fail(message: str, hint: str | None, code: int) -> int:
    from sweep.report.foreign import visible

    print(f"error: {short(visible(message), LONGEST_ERROR)}", file=sys.stderr)
    if hint:
        print(f"hint: {visible(hint)}", file=sys.stderr)
    return code


def _one_line(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line[:1].lower() + line[1:]


def _where_help_is(error: Any) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'sweep'} --help"


def interrupt_again(lost: Any) -> None:
    """Python drops a Ctrl-C that falls into a finaliser or a weak reference's callback: it is sent once more, a moment later."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(AGAIN_S, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def main() -> None:
    sys.unraisablehook = interrupt_again
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no – or ✓ shows ?
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup keeps its meaning
            signal.signal(number, signal.default_int_handler)  # whoever ends us gets what Ctrl-C gets: partial results, kept
    sys.exit(run())
