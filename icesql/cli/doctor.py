"""``icesql doctor``: which reader and credentials a location has, and what its store lets one do."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, TextIO

import typer

from icesql.catalog.config import DEFAULT_CATALOG, catalog_configurations, catalog_type, completed
from icesql.cli.browse import form_of
from icesql.errors import IcesqlError
from icesql.io.storage.file_systems import ArrowFileIO
from icesql.io.stores.checks import Check, check_location
from icesql.session.output.rows import print_rows


def doctor(
    context: typer.Context,
    location: Annotated[str | None, typer.Argument(help="a folder or prefix; default: the catalog's warehouse")] = None,
    conf: Annotated[list[str] | None, typer.Option("--conf", "-c", metavar="KEY=VALUE", help="a Spark, catalog or store setting")] = None,
    catalog: Annotated[str | None, typer.Option("--catalog", help="the catalog whose settings are used")] = None,
    spark: Annotated[bool, typer.Option("--spark/--no-spark", help="start Spark to say which reader tables have there")] = True,
    form: Annotated[str | None, typer.Option("--format", help="table, csv, json or markdown")] = None,
) -> None:
    """Check a location: credentials, and write, read, conditional put, list and delete with one object; and which reader it has."""
    from icesql.cli.main import key_values

    given = {**(context.obj or {}).get("conf", {}), **key_values(conf, "--conf")}
    raise typer.Exit(examine(location, given, catalog, asks_spark=spark, form=form_of(context, form)))


def examine(
    location: str | None, conf: Mapping[str, str], catalog: str | None, *, asks_spark: bool, form: str = "table", out: TextIO | None = None
) -> int:
    """0 if all went well, else 1. Without a location the catalog's warehouse is looked at.

    ``form``: ``table`` prints a line a step when it is done, others print all steps at the end.
    """
    out = out or sys.stdout
    done: list[Check] = []
    try:
        properties = _properties(location, conf, catalog)
        place = location or properties.get("warehouse")
        if place is None:
            raise IcesqlError(f"Cannot check catalog {catalog}: it has no warehouse; name a location")
        is_ok = True
        if form == "table":
            print(place, file=out)
        for check in _checks(properties, place, conf, asks_spark=asks_spark):
            done.append(check)
            is_ok = is_ok and check.is_ok
            if form == "table":
                print(_line(check), file=out, flush=True)
        if form != "table":
            print_rows(
                ("location", "step", "is_ok", "outcome", "ms"),
                [(place, c.step, c.is_ok, c.outcome, None if c.ms is None else round(c.ms, 2)) for c in done],
                form,
                out,
            )
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        return 1
    return 0 if is_ok else 1


def _checks(properties: Mapping[str, str], place: str, conf: Mapping[str, str], *, asks_spark: bool) -> Iterator[Check]:
    yield from check_location(ArrowFileIO(properties), place)
    if asks_spark:
        yield _reader(place, conf)


def _properties(location: str | None, conf: Mapping[str, str], catalog: str | None) -> dict[str, str]:
    """Those of the catalog named, else of the one whose warehouse the location is in, else of the default one; then plain keys."""
    configurations = {
        name: completed(given, catalog_type(name, given)) for name, given in catalog_configurations(conf, environ=os.environ).items()
    }
    if catalog is not None and catalog not in configurations:
        raise IcesqlError(f"Cannot check catalog {catalog}: it is not configured; set spark.sql.catalog.{catalog}")
    holding = [name for name, given in configurations.items() if location and location.startswith(given.get("warehouse") or "\0")]
    chosen = catalog or next(iter(holding), DEFAULT_CATALOG)
    return {**configurations[chosen], **{key: value for key, value in conf.items() if not key.startswith("spark.")}}


def _reader(location: str, conf: Mapping[str, str]) -> Check:
    from icesql.io.storage.locations import scheme_of
    from icesql.session.connecting import connect
    from icesql.session.readers import reader_of

    session = connect(conf={**conf, "spark.ui.showConsoleProgress": "false"})
    return Check("reader", True, reader_of(session.spark, scheme_of(location)))


def _line(check: Check) -> str:
    mark = "ok  " if check.is_ok else "FAIL"
    took = "" if check.ms is None else f" ({check.ms:.0f} ms)"
    return f"{mark} {check.step}: {check.outcome}{took}"
