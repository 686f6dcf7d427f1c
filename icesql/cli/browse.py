"""``icesql tables``, ``describe``, ``schema``, ``snapshots`` and ``files``: what catalogs hold, without Spark."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from icesql.errors import IcesqlError, NotFoundError, nearest

if TYPE_CHECKING:
    from icesql.catalog.base import Catalog
    from icesql.cli.browsing import Rows
    from icesql.table.table import Table

Name = Annotated[str, typer.Argument(metavar="[CATALOG.]NAMESPACE.TABLE", help="a table; without a catalog, of local")]
Conf = Annotated[list[str] | None, typer.Option("--conf", "-c", metavar="KEY=VALUE", help="spark.sql.catalog.NAME.KEY=VALUE")]
Form = Annotated[str | None, typer.Option("--format", help="table, csv, json or markdown")]


def tables(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(metavar="[CATALOG][.NAMESPACE]", help="default: all catalogs")] = None,
    conf: Conf = None,
    form: Form = None,
) -> None:
    """Tables and views."""
    from icesql.cli import browsing
    from icesql.parser.text.identifiers import parse_name

    with failures_told():
        catalogs = Catalogs(settings_of(context, conf))
        if name is None:
            listed = [browsing.tables(catalogs.open(one)) for one in catalogs.names]
        else:
            catalog, parts = catalogs.find(parse_name(name))
            listed = [browsing.tables(catalog, parts or None)]
        show(context, form, listed[0].names, [row for rows in listed for row in rows.rows])


def describe(context: typer.Context, name: Name, conf: Conf = None, form: Form = None) -> None:
    """Columns, layout, state and properties of a table."""
    from icesql.cli import browsing

    with failures_told():
        described = browsing.describe(table_of(context, name, conf))
        if form_of(context, form) == "json":
            columns = [dict(zip(described.columns.names, row, strict=True)) for row in described.columns.rows]
            print(json.dumps({**described.facts, "columns": columns}, default=str, ensure_ascii=False))
            return
        show(context, form, described.columns.names, described.columns.rows)
        if form_of(context, form) == "table":
            sys.stdout.write(facts_text(described.facts))


def schema(context: typer.Context, name: Name, conf: Conf = None, form: Form = None) -> None:
    """Columns and nested fields of a table, with their ids."""
    _show_of_table(context, name, conf, form, "schema")


def snapshots(context: typer.Context, name: Name, conf: Conf = None, form: Form = None) -> None:
    """Snapshots of a table, oldest first, with the branches and tags that point to them."""
    _show_of_table(context, name, conf, form, "snapshots")


def files(context: typer.Context, name: Name, conf: Conf = None, form: Form = None) -> None:
    """Data and delete files of a table's current snapshot."""
    _show_of_table(context, name, conf, form, "files")


def _show_of_table(context: typer.Context, name: str, conf: list[str] | None, form: str | None, what: str) -> None:
    from icesql.cli import browsing

    read: Callable[[Table], Rows] = getattr(browsing, what)
    with failures_told():
        rows = read(table_of(context, name, conf))
        show(context, form, rows.names, rows.rows)


def facts_text(facts: Mapping[str, Any]) -> str:
    """A line a fact; those that are not known are left out. Properties come one a line."""
    from icesql.session.output.rows import text, visible

    known = {name: value for name, value in facts.items() if value not in (None, {})}
    width = max(map(len, known))
    lines = []
    for name, value in known.items():
        shown = [f"{key} = {item}" for key, item in value.items()] if isinstance(value, dict) else [text(value)]
        lines += [f"{name if at == 0 else '':<{width}}  {visible(one)}\n" for at, one in enumerate(shown)]
    return "\n" + "".join(lines)


# -- shared by commands that need no Spark -----------------------------------------------------------------------------
class Catalogs:
    """The configured catalogs; each is opened when it is asked for."""

    def __init__(self, conf: Mapping[str, str]) -> None:
        from icesql.catalog.config import catalog_configurations

        self._configurations = catalog_configurations(conf, environ=os.environ)

    @property
    def names(self) -> list[str]:
        return list(self._configurations)

    def open(self, name: str) -> Catalog:
        from icesql.catalog.loading import load_catalog
        from icesql.parser.filters import parse_filter

        return load_catalog(name, self._configurations[name], parse_filter)

    def find(self, parts: tuple[str, ...]) -> tuple[Catalog, tuple[str, ...]]:
        """The catalog that a name's first part names, else ``local``, and the rest."""
        from icesql.catalog.config import DEFAULT_CATALOG

        if parts[0] in self._configurations:
            return self.open(parts[0]), parts[1:]
        return self.open(DEFAULT_CATALOG), parts

    def table(self, parts: tuple[str, ...]) -> Table:
        """Raises NotFoundError, also for a name without a namespace."""
        catalog, identifier = self.find(parts)
        if len(identifier) < 2:
            known = [*self.names, *(".".join(one) for one in catalog.list_namespaces())]
            raise NotFoundError(f"Cannot find table: its namespace is not named: {'.'.join(parts)}.{nearest(parts[0], known)}")
        return catalog.load_table(identifier)


def settings_of(context: typer.Context, conf: list[str] | None) -> dict[str, str]:
    """``--conf`` before and behind the command."""
    from icesql.cli.main import key_values

    return {**(context.obj or {}).get("conf", {}), **key_values(conf, "--conf")}


def table_of(context: typer.Context, name: str, conf: list[str] | None) -> Table:
    from icesql.parser.text.identifiers import parse_name

    return Catalogs(settings_of(context, conf)).table(parse_name(name))


def form_of(context: typer.Context, form: str | None) -> str:
    """``--format`` behind the command, else before it. Raises BadParameter."""
    from icesql.cli.main import check_format

    chosen: str = form or (context.obj or {}).get("form", "table")
    check_format(chosen)
    return chosen


def show(context: typer.Context, form: str | None, names: Any, rows: Any) -> None:
    """Rows on the standard output, as wide as the terminal."""
    from icesql.cli.terminal import screen_of
    from icesql.session.output.rows import print_rows

    print_rows(names, rows, form_of(context, form), sys.stdout, screen_of(sys.stdout))


@contextmanager
def failures_told() -> Iterator[None]:
    """An error of ours is one line on the standard error, and the exit code 1."""
    try:
        yield
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
        raise typer.Exit(1) from None
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
