"""``help``: the shell's commands, and the documentation of procedures."""

from __future__ import annotations

from collections.abc import Sequence

from icesql.errors import NotFoundError, nearest
from icesql.procedures.base import Procedure
from icesql.procedures.registry import NAMES, procedure, procedures
from icesql.session.output.rows import as_text


def help_text(topic: str) -> str:
    """``""``: all commands. ``CALL``: all procedures. ``CALL name``, a procedure's name or a command's: that one.

    Raises NotFoundError that names the nearest.
    """
    words = topic.rstrip("; ").split()
    if not words:
        return _commands()
    if words[0].upper() == "CALL":
        name = words[1].partition("(")[0].rpartition(".")[2] if len(words) > 1 else ""
        return _procedure(procedure(name)) if name else _procedures()
    return _one(words[0])


def _commands() -> str:
    from icesql.cli.commands import EVERY_COMMAND

    rows = [(command.names[0], command.argument, command.help, ", ".join(command.names[1:])) for command in EVERY_COMMAND]
    return f"Statements end with ';'. Tab completes, Ctrl-C cancels.\n\n{_aligned(rows)}"


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    text = as_text([" "] * len(rows[0]), rows)
    return text.partition("\n")[2]


def _one(name: str) -> str:
    from icesql.cli.commands import COMMANDS

    command = COMMANDS.get(name)
    if command is not None:
        return (
            f"{name} {command.argument}".rstrip() + f"\n    {command.help}\n    also: {', '.join(n for n in command.names if n != name)}\n"
        )
    plain = name.rpartition(".")[2].lower()
    if plain in NAMES:
        return _procedure(procedure(plain))
    raise NotFoundError(f"Cannot help: no command or procedure of that name: {name}.{nearest(name, [*COMMANDS, *NAMES])}")


def _procedures() -> str:
    listed = _aligned([(one.name, one.summary) for one in procedures()])
    return f"CALL catalog.system.procedure(argument => value, ...)\n\n{listed}\nhelp CALL procedure tells its arguments.\n"


def _procedure(one: Procedure) -> str:
    arguments = [
        (f"  {parameter.name}", parameter.type, "required" if parameter.required else "", parameter.description)
        for parameter in one.signature
    ]
    results = [(f"  {output.name}", output.type) for output in one.output]
    names = ", ".join(f"{p.name} => ..." for p in one.signature if p.required)
    shown = [f"CALL catalog.system.{one.name}({names})", "", one.summary]
    if arguments:
        shown += ["", "Arguments, in this order or by name:", _aligned(arguments).rstrip()]
    if results:
        shown += ["", "Columns of the result:", _aligned(results).rstrip()]
    return "\n".join(shown) + "\n"
