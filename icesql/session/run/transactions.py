"""BEGIN, COMMIT and ROLLBACK; and what other statements may do while a transaction is in progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.parser import statements as s
from icesql.parser.statements.families import TransactionStatement
from icesql.session.resolve.resolver import place
from icesql.session.state.names import Address
from icesql.session.state.transactions import SessionTransaction
from icesql.table.transaction import Transaction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from icesql.session.state.session_state import SessionState


def run_transaction(session: SessionState, statement: TransactionStatement) -> DataFrame:
    match statement:
        case s.BeginTransaction():
            SessionTransaction(session).begin()
        case s.CommitTransaction() | s.RollbackTransaction():
            current = session.transaction_in_progress
            if current is None:
                raise InvalidArgumentError("Cannot end transaction: none is in progress: BEGIN starts one")
            if isinstance(statement, s.CommitTransaction):
                current.commit()
            else:
                current.rollback()
    return session.nothing


def make_table(session: SessionState, address: Address, transaction: Transaction) -> None:
    """Make or replace a table: now, or at the end of the transaction in progress. Raises AlreadyExistsError."""
    current = session.transaction_in_progress
    if current is None:
        transaction.commit()
    else:
        current.make(address, transaction)


def commit(session: SessionState, address: Address, change: Any) -> None:
    """Commit a builder of the table at ``address`` now, or stage it in the transaction in progress."""
    if session.transaction_in_progress is None:
        change.commit()
    else:
        session.transaction_in_progress.add(address, change)


_CANNOT_WAIT: dict[type[s.Statement], str] = {
    s.DropTable: "drop table",
    s.RenameTable: "rename table",
    s.CreateView: "create view",
    s.DropView: "drop view",
    s.AlterViewProperties: "alter view",
    s.AlterViewAs: "alter view",
    s.RenameView: "rename view",
    s.CreateNamespace: "create namespace",
    s.DropNamespace: "drop namespace",
    s.AlterNamespace: "alter namespace",
}


def check_can_wait(session: SessionState, statement: s.Statement) -> None:
    """Raises UnsupportedError for a statement about our catalogs that would take effect at once, and survive a rollback.

    Tables, views and namespaces of Spark's own are none of a transaction's business.
    """
    verb = _CANNOT_WAIT.get(type(statement))
    if verb is None or (isinstance(statement, s.CreateView) and (statement.temporary or statement.global_temporary)):
        return
    parts = _subject(statement).parts
    is_namespace = isinstance(statement, s.CreateNamespace | s.DropNamespace | s.AlterNamespace)
    if (session.names.namespace(parts) if is_namespace else place(session, parts)) is not None:
        refuse_in_transaction(session, verb, parts)


def refuse_in_transaction(session: SessionState, verb: str, parts: Sequence[str]) -> None:
    """Raises UnsupportedError if a transaction is in progress."""
    if session.transaction_in_progress is not None:
        raise UnsupportedError(f"Cannot {verb} in a transaction: it would take effect at once: COMMIT or ROLLBACK first: {'.'.join(parts)}")


def _subject(statement: s.Statement) -> s.TableName:
    subject = next(value for name in ("table", "view", "namespace") if (value := getattr(statement, name, None)) is not None)
    assert isinstance(subject, s.TableName)
    return subject
