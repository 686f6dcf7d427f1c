"""The ``icesql`` command: spark-sql's flags, scripts, and a prompt."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from icesql.errors import IcesqlError

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.command(help="Run Iceberg SQL on stock PySpark: -e TEXT, -f FILE, or an interactive prompt.")
def run(
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

    if version:
        typer.echo(f"icesql {__version__}")
        raise typer.Exit
    from icesql.session.output import FORMATS

    if form not in FORMATS:
        raise typer.BadParameter(f"not one of {', '.join(FORMATS)}: {form}", param_hint="--format")
    settings, variables = _pairs(conf, "--conf"), _pairs(define, "--define")
    raise typer.Exit(_run(execute or [], file or [], init or [], settings, master, database, silent, verbose, variables, form))


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    pairs = {}
    for text in given or []:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise typer.BadParameter(f"expected KEY=VALUE: {text}", param_hint=option)
        pairs[key.strip()] = value
    return pairs


def _run(
    execute: list[str], files: list[Path], init: list[Path], settings: dict[str, str], master: str | None, database: str | None,
    silent: bool, verbose: bool, variables: dict[str, str], form: str,
) -> int:  # fmt: skip
    """The exit code: 0, or 1 after a failure that was printed."""
    from icesql.cli.runner import Runner
    from icesql.session.connecting import connect

    try:
        session = connect(conf=settings or None, master=master) if settings or master else connect()
        if database:
            session.sql("USE " + database)
    except (IcesqlError, OSError) as error:
        print(f"icesql: {error}", file=sys.stderr)
        return 1
    interactive = not execute and not files and sys.stdin.isatty()
    runner = Runner(session, sys.stdout, sys.stderr, form=form, silent=silent, verbose=verbose, limit=1000 if interactive else None)
    scripts: list[str | Path] = [*init, *execute, *files]
    for script in scripts:
        if not _script(runner, script, variables):
            return 1
    if execute or files:
        return 0
    if not interactive:
        return 0 if _script(runner, sys.stdin.read(), variables) else 1
    return _interact(runner, variables)


def _script(runner: object, script: str | Path, variables: dict[str, str]) -> bool:
    """Run all statements; ``False`` after the first failure, which is printed with its number, line and column."""
    from icesql.cli.runner import Runner, interruptible
    from icesql.session.script import ScriptError, ScriptStatement, place_of, read_script, run_script, substituted

    assert isinstance(runner, Runner)
    started = [0.0]
    last: list[ScriptStatement] = []

    def before(statement: ScriptStatement) -> None:
        last[:] = [statement]
        runner.session.frames.clear()  # scans plan, and report, anew
        runner.echo(statement.text)
        started[0] = time.perf_counter()

    try:
        text = substituted(read_script(script), variables)
        with interruptible(runner.session):
            for frame in run_script(runner.session, text + "\n", {}, before):
                try:
                    runner.show(frame, started[0])
                except Exception as error:
                    raise ScriptError(last[0], *place_of(error, last[0]), error) from error
    except KeyboardInterrupt:
        print("icesql: cancelled", file=sys.stderr)
        return False
    except IcesqlError as error:
        print(f"icesql: {f'{script}: ' if isinstance(script, Path) else ''}{error}", file=sys.stderr)
        return False
    return True


def _interact(runner: object, variables: dict[str, str]) -> int:
    from icesql import __version__
    from icesql.cli.prompt import QUIT, prompt_session
    from icesql.cli.runner import Runner

    assert isinstance(runner, Runner)
    folder = Path.home() / ".icesql"
    folder.mkdir(exist_ok=True)
    prompt = prompt_session(runner.session, folder / "history")
    if not runner.silent:
        print(f"icesql {__version__} on Spark {runner.session.spark.version}. Statements end with ';'. Ctrl-D leaves.", file=sys.stderr)
    while True:
        try:
            text = prompt.prompt("icesql> ")
        except KeyboardInterrupt:
            continue
        except EOFError:
            return 0
        if text.strip().lower() in QUIT:
            return 0
        if text.strip():
            _script(runner, text, variables)


def main() -> None:
    """Entry point of the console script."""
    app()


if __name__ == "__main__":
    main()
