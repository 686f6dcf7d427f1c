"""``icesql COMMAND``: which commands there are. Each is a function with typer's annotations, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

COMMANDS = {
    "tables": "icesql.cli.browse:tables",
    "describe": "icesql.cli.browse:describe",
    "schema": "icesql.cli.browse:schema",
    "snapshots": "icesql.cli.browse:snapshots",
    "files": "icesql.cli.browse:files",
    "plan": "icesql.cli.plan:plan",
    "fmt": "icesql.cli.fmt:fmt",
    "doctor": "icesql.cli.doctor:doctor",
    "serve": "icesql.cli.serve:serve",
    "spark-sql": "icesql.cli.spark_sql:spark_sql",
    "sql-server": "icesql.cli.sql_server:sql_server",
}


class Subcommands(TyperGroup):
    """The commands of ``COMMANDS``, and those registered with ``@app.command``."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [*COMMANDS, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        name, _, function = COMMANDS[cmd_name].partition(":")
        module = import_module(name)
        settings = {"help_option_names": ["-h", "--help"], **getattr(module, "SETTINGS", {})}
        one = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        one.command(cmd_name, context_settings=settings)(getattr(module, function))
        command = get_command(one)
        command.name = cmd_name
        return command
