"""The current version of the table that a request names."""

from __future__ import annotations

from icesql.catalog.names import Identifier
from icesql.errors import CorruptMetadataError, NotFoundError
from icesql.server.http.call import Call
from icesql.server.problems import Problem, no_such_table
from icesql.table.operations import TableVersion


def loaded_version(call: Call, identifier: Identifier) -> TableVersion:
    """Raises Problem 404."""
    try:
        return call.served.table(identifier)
    except NotFoundError:
        raise no_such_table(identifier) from None
    except CorruptMetadataError as error:
        if isinstance(error.__cause__, NotFoundError):
            raise Problem(404, "NotFoundException", f"Failed to open input stream for file: {error.context['location']}") from None
        raise
