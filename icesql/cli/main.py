"""The ``icesql`` command: spark-sql's flags, scripts, and a prompt."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from icesql.cli.subcommands import Subcommands
from icesql.errors import IcesqlError

INTERACTIVE_ROWS = 1000
app = typer.Typer(
    cls=Subcommands, add_completion=False, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]}
)


@app.callback(
    invoke_without_command=True,
    subcommand_metavar="[COMMAND ...]",
    help="Run Iceberg SQL on stock PySpark: -e TEXT, -f FILE, or an interactive prompt. The commands below need no Spark.",
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
        context.obj = {"conf": key_values(conf, "--conf"), "form": form}
        return
    if version:
        typer.echo(f"icesql {__version__}")
        raise typer.Exit
    check_format(form)
    options = Options(
        execute=execute or [],
        files=file or [],
        init=init or [],
        conf=key_values(conf, "--conf"),
        master=master,
        database=database,
        silent=silent,
        verbose=verbose,
        variables=key_values(define, "--define"),
        form=form,
    )
    raise typer.Exit(_start(options))


def check_format(form: str) -> None:
    from icesql.session.output.rows import FORMATS

    if form not in FORMATS:
        raise typer.BadParameter(f"not one of {', '.join(FORMATS)}: {form}", param_hint="--format")


def key_values(given: list[str] | None, option: str) -> dict[str, str]:
    """``KEY=VALUE`` of an option that may be repeated."""
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
    """The exit code: 0, or 1 after a failure that was printed. Scripts are looked for before Spark starts."""
    from icesql.session.connecting import connect
    from icesql.session.script import read_script

    conf = {**_conf_of_shell(options), **options.conf}
    try:
        for script in (*options.init, *options.files):
            read_script(script)
        session = connect(conf=conf, master=options.master)
        if options.database:
            session.sql("USE " + options.database)
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        return 1
    from icesql.cli.display import Display
    from icesql.cli.runner import Runner

    limit = INTERACTIVE_ROWS if options.is_interactive else None
    display = Display(form=options.form, limit=limit, pages=options.is_interactive)
    runner = Runner(session, display=display, silent=options.silent, verbose=options.verbose, variables=options.variables)
    scripts: list[str | Path] = [*options.init, *options.execute, *options.files]
    if not all(map(runner.run, scripts)):
        return 1
    if options.execute or options.files:
        return 0
    if not options.is_interactive:
        return 0 if runner.run(sys.stdin.read() + "\n") else 1
    from icesql.cli.interactive import interact

    return interact(runner)


def _conf_of_shell(options: Options) -> dict[str, str]:
    """Spark's own progress bar would draw over ours; on one machine running tasks tell each second how far they are."""
    master = options.master or options.conf.get("spark.master") or os.environ.get("MASTER", "local")
    heartbeat = {"spark.executor.heartbeatInterval": "1s"} if master.startswith("local") else {}
    return {"spark.ui.showConsoleProgress": "false", **heartbeat}


def main() -> None:
    """Entry point of the console script."""
    app()


if __name__ == "__main__":
    main()
