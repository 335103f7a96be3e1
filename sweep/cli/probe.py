"""`sweep probe`: what an endpoint is, before it is measured."""

from __future__ import annotations

from typing import Annotated

import typer

from sweep.cli.options import URL, Body, Dialect, Header, Insecure, Json, Model

PANEL = "Measure"
PLACE = 15


def probe(
    url: Annotated[str, typer.Argument(metavar="URL", help=URL)],
    model: Model = None,
    header: Header = None,
    dialect: Dialect = None,
    insecure: Insecure = False,
    body: Body = None,
    json: Json = False,
) -> None:
    """Ask an endpoint what it is.

    Model, limits, what it reports and how it streams, with at most twelve short requests; with --json the `endpoint` of a
    curve file. `sweep run` asks the first four of these itself, before any load.
    """
    from msgspec.structs import replace

    from sweep.cli.screen import print_document, terminal
    from sweep.dialect import get
    from sweep.load import preflight
    from sweep.load.client import target_from
    from sweep.run.body import read, require_free
    from sweep.run.source import addressed

    extra = read(body) if body is not None else {}
    require_free(get(dialect or "chat"), extra)
    with addressed(url) as (address, simulated):
        target = target_from(address, model=model, headers=tuple(header or ()), insecure=insecure)
        endpoint, _ = preflight.explore(target, dialect or "chat", extra=extra, thorough=True)
        endpoint = replace(endpoint, simulated=simulated)
    if json:
        print_document(endpoint)
        return
    from sweep.report import endpoint as page

    page.show(terminal(), endpoint)
