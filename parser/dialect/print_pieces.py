"""What statements are printed with: words, lists, properties, tables, columns and types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from icesql.parser.dialect import nodes
from icesql.parser.dialect.sqlglot_source import Spark, exp

_Types = exp.DataType.Type
_NO_WORDS = ("", None, False)


class PrintPieces(Spark.Generator):
    def words(self, *pieces: Any) -> str:
        """Those that are there, joined by blanks."""
        return " ".join(str(piece) for piece in pieces if piece not in _NO_WORDS)

    def lines(self, *pieces: Any) -> str:
        """As ``words``; a line each where the output is pretty."""
        return str(self.sep()).join(str(piece) for piece in pieces if piece not in _NO_WORDS)

    def flat(self, listed_nodes: Iterable[Any]) -> str:
        return ", ".join(self.sql(node) for node in listed_nodes)

    def listed(self, listed_nodes: Iterable[Any], *, wrap: bool = False) -> str:
        """``(a, b)``; ``wrap``: a line each where the output is pretty."""
        pieces = [self.sql(node) for node in listed_nodes]
        if not (wrap and self.pretty and len(pieces) > 1):
            return f"({', '.join(pieces)})"
        inner = ",\n".join(self._indented(piece) for piece in pieces)
        return f"(\n{inner}\n)"

    def _indented(self, text: str) -> str:
        return "\n".join("  " + line if line else line for line in text.split("\n"))

    def after(self, words: str, node: Any) -> str:
        """``words`` and the node, or nothing where there is no node."""
        return f"{words} {self.sql(node)}" if node else ""

    def pairs(self, words: str, listed_nodes: list[Any] | None) -> str:
        return f"{words} {self.listed(listed_nodes, wrap=True)}" if listed_nodes else ""

    def verbatim_sql(self, node: Any) -> str:
        return str(node.this)

    generated_sql = verbatim_sql

    def property_sql(self, node: Any) -> str:
        return f"{self.sql(node, 'this')} = {self.sql(node, 'value')}" if type(node) is exp.Property else super().property_sql(node)

    def table_sql(self, node: Any, *arguments: Any, **named: Any) -> str:
        """A table with its time travel and its options, which sqlglot has no better place for than its hints."""
        version, hints = node.args.get("version"), node.args.get("hints") or []
        has_options = bool(hints) and isinstance(hints[0], nodes.WriteOptions)
        if version is None and not has_options:
            return str(super().table_sql(node, *arguments, **named))
        options = f"WITH {self.listed(hints[0].expressions)}" if has_options else ""
        travel = "" if version is None else f"{version.name} AS OF {self.sql(version, 'expression')}"
        name = ".".join(self.sql(part) for part in node.parts)
        plain = node.copy()
        for arg in ("db", "catalog", "version", "hints"):
            plain.set(arg, None)
        plain.set("this", nodes.Verbatim(this=self.words(name, travel, options)))
        return str(super().table_sql(plain, *arguments, **named))

    # -- columns ---------------------------------------------------------------------------------------------------------
    def anonymous_sql(self, node: Any) -> str:
        """Functions that sqlglot does not know, transforms among them, keep their case."""
        return f"{node.name}({self.flat(node.expressions)})" if isinstance(node.this, str) else str(super().anonymous_sql(node))

    def datatype_sql(self, node: Any) -> str:
        if node.this == _Types.STRUCT and not node.expressions:
            return "STRUCT<>"
        if node.this == _Types.USERDEFINED and node.args.get("kind"):
            return self.words(node.args["kind"]) + (self.listed(node.expressions) if node.expressions else "")
        collate = node.args.get("collate")
        sql = str(super().datatype_sql(node))
        return sql if collate is None or "COLLATE" in sql else f"{sql} COLLATE {self.sql(collate)}"

    def columndef_sql(self, node: Any, sep: str = " ") -> str:
        in_struct = isinstance(node.parent, exp.DataType)
        kind, constraints = self.sql(node, "kind"), [self.sql(constraint) for constraint in node.args.get("constraints") or []]
        name = f"{self.sql(node, 'this')}:" if in_struct else self.sql(node, "this")
        return self.words(name, kind, *constraints, self.sql(node, "position"))

    def position_sql(self, node: Any) -> str:
        return self.after("AFTER", node.args.get("this")) or "FIRST"

    def namedfield_sql(self, node: Any) -> str:
        return self.words(self.sql(node, "this"), self.after("AS", node.args.get("alias")))

    def sortterm_sql(self, node: Any) -> str:
        desc, nulls_first = node.args.get("desc"), node.args.get("nulls_first")
        nulls = "" if nulls_first is not bool(desc) else f"NULLS {'FIRST' if nulls_first else 'LAST'}"
        return self.words(self.sql(node, "this"), "DESC" if desc else "", nulls)


def has_only(node: Any, *args: str) -> bool:
    """Whether a statement, which may come from another dialect, has no clauses but these."""
    return not any(value for arg, value in node.args.items() if arg not in args)


def if_exists(node: Any) -> str:
    return "IF EXISTS" if node.args.get("exists") else ""
