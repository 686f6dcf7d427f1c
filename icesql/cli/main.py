"""The ``icesql`` command: spark-sql's flags, scripts, and a prompt."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from icesql.errors import IcesqlError

INTERACTIVE_ROWS = 1000
app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.callback(
    invoke_without_command=True,
    subcommand_metavar="[fmt FILE... | doctor [LOCATION] | serve]",
    help="Run Iceberg SQL on stock PySpark: -e TEXT, -f FILE, or an interactive prompt.",
)
def run(
    context: typer.Context,
    execute: Annotated[list[str] | None, typer.Option("-e", metavar="SQL", help="run this SQL, then exit")] = None,
    file: Annotated[list[Path] | None, typer.Option("-f", metavar="FILE", help="run this script, then exit")] = None,
    init: Annotated[list[Path] | None, typer.Option("-i", metavar="FILE", help="run this script first")] = None,
    conf: Annotated[list[str] | None, typer.Option("--conf", "-c", metavar="KEY=VALUE", help="a Spark or catalog setting")] = None,
    master: Annotated[str | None, typer.Option("--master", help="Spark's master, default local[*]")] = None,
    database: Annotated[str | None, typer.Option("--database", help="start in this catalog and namespace")] = None,
    silent: Annotated[bool, typer.Option("-S", "--silent", help="print results only")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="print each statement before it runs")] = False,
    define: Annotated[
        list[str] | None, typer.Option("-d", "--define", "--hivevar", metavar="KEY=VALUE", help="a variable for ${KEY} in scripts")
    ] = None,
    form: Annotated[str, typer.Option("--format", help="table, csv, json or markdown")] = "table",
    version: Annotated[bool, typer.Option("--version", help="print the version and exit")] = False,
) -> None:
    from icesql import __version__

    if context.invoked_subcommand is not None:
        return
    if version:
        typer.echo(f"icesql {__version__}")
        raise typer.Exit
    from icesql.session.output.rows import FORMATS

    if form not in FORMATS:
        raise typer.BadParameter(f"not one of {', '.join(FORMATS)}: {form}", param_hint="--format")
    options = Options(
        execute=execute or [],
        files=file or [],
        init=init or [],
        conf=_pairs(conf, "--conf"),
        master=master,
        database=database,
        silent=silent,
        verbose=verbose,
        variables=_pairs(define, "--define"),
        form=form,
    )
    raise typer.Exit(_start(options))


@app.command("fmt")
def fmt(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="scripts; - is the standard input")],
    check: Annotated[bool, typer.Option("--check", help="write nothing; fail if a file would change")] = False,
) -> None:
    """Lay SQL scripts out anew: one clause a line, keywords in capitals, comments kept."""
    from icesql.cli.fmt import format_files

    raise typer.Exit(format_files(files, check=check))


@app.command("doctor")
def doctor(
    location: Annotated[str | None, typer.Argument(help="a folder or prefix; default: the catalog's warehouse")] = None,
    conf: Annotated[list[str] | None, typer.Option("--conf", "-c", metavar="KEY=VALUE", help="a Spark, catalog or store setting")] = None,
    catalog: Annotated[str | None, typer.Option("--catalog", help="the catalog whose settings are used")] = None,
    spark: Annotated[bool, typer.Option(help="start Spark to say which reader tables have there")] = True,
) -> None:
    """Check a location: reader, credentials, and write, read, conditional put, list and delete with one object."""
    from icesql.cli.doctor import doctor as check

    raise typer.Exit(check(location, _pairs(conf, "--conf"), catalog, asks_spark=spark))


@app.command("serve")
def serve(
    catalog: Annotated[str | None, typer.Option("--catalog", metavar="NAME", help="for clients that name none")] = None,
    host: Annotated[str | None, typer.Option("--host", help="address to listen at, default 127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option("--port", help="default 8181")] = None,
    config: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="settings, a TOML file")] = None,
) -> None:
    """Serve Iceberg's REST catalog protocol; with nothing configured, the catalog in ./warehouse."""
    try:
        from icesql.server.run import serve as run_server
    except ImportError as error:
        typer.echo(f"icesql: Cannot serve: {error.name} is not installed: pip install 'icesql[server]'", err=True)
        raise typer.Exit(1) from None
    raise typer.Exit(run_server(config, catalog=catalog, host=host, port=port))


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = {}
    for text in given or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"expected KEY=VALUE: {text}", param_hint=option)
        pairs[key.strip()] = value
    return pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the command line asked for."""

    execute: list[str]
    files: list[Path]
    init: list[Path]
    conf: dict[str, str]
    master: str | None
    database: str | None
    silent: bool
    verbose: bool
    variables: dict[str, str]
    form: str

    @property
    def is_interactive(self) -> bool:
        return not self.execute and not self.files and sys.stdin.isatty()


def _start(options: Options) -> int:
    """The exit code: 0, or 1 after a failure that was printed."""
    from icesql.cli.runner import Runner
    from icesql.session.connecting import connect

    conf = {"spark.ui.showConsoleProgress": str(sys.stderr.isatty() and not options.silent).lower(), **options.conf}
    try:
        session = connect(conf=conf, master=options.master)
        if options.database:
            session.sql("USE " + options.database)
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        return 1
    runner = Runner(
        session,
        form=options.form,
        silent=options.silent,
        verbose=options.verbose,
        limit=INTERACTIVE_ROWS if options.is_interactive else None,
        variables=options.variables,
    )
    scripts: list[str | Path] = [*options.init, *options.execute, *options.files]
    if not all(map(runner.run, scripts)):
        return 1
    if options.execute or options.files:
        return 0
    if not options.is_interactive:
        return 0 if runner.run(sys.stdin.read() + "\n") else 1
    from icesql.cli.interactive import interact

    return interact(runner)


def main() -> None:
    """Entry point of the console script."""
    app()


if __name__ == "__main__":
    main()
