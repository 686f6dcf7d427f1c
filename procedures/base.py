"""What a procedure is: a signature, a documentation, and a function over a context. One file each beside this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from icesql.procedures.context import ProcedureContext

Row: TypeAlias = Sequence[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """``type`` is Spark's simple name. Values reach ``call`` as: bigint and int -> int, timestamp -> int microseconds since the epoch,
    string -> str, boolean -> bool, ``array<...>`` -> list, ``map<string,string>`` -> dict; ``None`` where nothing was given.
    """

    name: str
    type: str
    required: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    name: str
    type: str
    nullable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """``call(context, **arguments)`` returns the rows of ``output``.

    ``mutating`` procedures take ``dry_run => true`` as their last parameter: the context then keeps every commit and deletion in memory
    (``icesql.procedures.dry_run``) and lists what would have been done. A procedure that starts data jobs asks ``context.dry_run`` itself
    before it does. ``can_wait``: its effect is a change of metadata alone, so that in a transaction it is staged like a statement's.
    """

    name: str
    parameters: tuple[Parameter, ...]
    output: tuple[Output, ...]
    call: Callable[..., Iterable[Row]]
    summary: str
    mutating: bool = True
    can_wait: bool = False

    @property
    def signature(self) -> tuple[Parameter, ...]:
        """The parameters in positional order, ``dry_run`` included."""
        if not self.mutating or any(parameter.name == "dry_run" for parameter in self.parameters):
            return self.parameters
        return (*self.parameters, DRY_RUN)

    def run(self, context: ProcedureContext, arguments: dict[str, Any]) -> list[Row]:
        """Arguments are bound and cast (``icesql.procedures.arguments``), one for each parameter of ``signature``."""
        own = {parameter.name for parameter in self.parameters}
        return list(self.call(context, **{name: value for name, value in arguments.items() if name in own}))


DRY_RUN = Parameter(name="dry_run", type="boolean", description="list what would be done, and do nothing")
TABLE = Parameter(name="table", type="string", required=True, description="name of the table, in the procedure's catalog")
