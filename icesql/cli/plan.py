"""``icesql plan "SELECT ..."``: which files a query would read, and what each of its predicates leaves out, without Spark."""

from __future__ import annotations

import datetime
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icesql.cli.browse import Catalogs, Conf, Form, failures_told, form_of, settings_of, show
from icesql.errors import IcesqlError, UnsupportedError

if TYPE_CHECKING:
    from icesql.cli.where import TableConditions
    from icesql.expr.tree import Expression
    from icesql.parser.text.names import TimeTravel
    from icesql.pictures.pruning_steps import Planning
    from icesql.table.table import Table


def plan(
    context: typer.Context,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="a query")],
    conf: Conf = None,
    form: Form = None,
) -> None:
    """What a query would read of each table, and what its predicates leave out, as EXPLAIN PRUNING draws it."""
    from icesql.cli.where import table_conditions
    from icesql.session.output.pruning_picture import print_picture
    from icesql.session.output.pruning_rows import NAMES, pruning_rows

    with failures_told():
        catalogs = Catalogs(settings_of(context, conf))
        read = table_conditions(sql)
        if not read:
            raise UnsupportedError("Cannot plan: the text reads no table")
        plannings, used = [], set[str]()
        for table in read:
            planning, written = planned(catalogs, table)
            plannings.append(planning)
            used.update(written)
        for condition in dict.fromkeys(condition.written for table in read for condition in table.conditions):
            if condition not in used:
                print(f"-- tells no files apart: {condition}", file=sys.stderr)
        if form_of(context, form) == "table":
            print_picture(plannings, sys.stdout)
        else:
            show(context, form, NAMES, [row for planning in plannings for row in pruning_rows(planning)])


def planned(catalogs: Catalogs, read: TableConditions) -> tuple[Planning, list[str]]:
    """The planning of one table's files, and the conditions that were used: those of its columns and literals alone."""
    from icesql.expr.tree import TRUE, and_
    from icesql.pictures.pruning_steps import Planning
    from icesql.session.resolve.resolved import parse_selector

    parts, version = read.reference.parts, _version(read.reference.time_travel)
    selector = parse_selector(parts[-1]) if not version else None
    table = catalogs.table(parts if selector is None else parts[:-1])
    if selector is not None:
        version = {"ref": selector.ref, "snapshot_id": selector.snapshot_id, "timestamp_ms": selector.timestamp_ms}
    filters: list[Expression] = [TRUE]
    used = []
    for condition in read.conditions:
        expression = None if condition.others else _filter(table, condition.text)
        if expression is not None:
            filters.append(expression)
            used.append(condition.written)
    scan = table.scan(and_(*filters), case_sensitive=False, **version)
    report = scan.plan_files().report
    snapshot = next((one for one in table.snapshots if one.snapshot_id == report.snapshot_id), None)
    size = None if snapshot is None else snapshot.summary.get("total-files-size")
    return Planning(report, int(size) if size and size.isdigit() else None), used


def _filter(table: Table, text: str) -> Expression | None:
    """The condition as an expression over the table's columns; ``None`` for one that is no filter of files."""
    from icesql.expr.binding import bind

    try:
        expression = table.expression(text)
        bind(table.schema, expression, case_sensitive=False)
    except IcesqlError:
        return None
    return expression


def _version(travel: TimeTravel | None) -> dict[str, Any]:
    if travel is None:
        return {}
    if travel.kind == "version" and isinstance(travel.value, int):
        return {"snapshot_id": travel.value}
    if travel.kind == "version" and isinstance(travel.value, str):
        return {"snapshot_id": int(travel.value)} if travel.value.isdigit() else {"ref": travel.value}
    if isinstance(travel.value, str):
        try:
            time = datetime.datetime.fromisoformat(travel.value)
        except ValueError:
            raise UnsupportedError(f"Cannot plan: not a time that can be read without Spark: {travel.value}") from None
        return {"timestamp_ms": int((time if time.tzinfo else time.astimezone()).timestamp() * 1000)}
    raise UnsupportedError("Cannot plan: the version is an expression, which only Spark can evaluate: write a literal")
