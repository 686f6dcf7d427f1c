"""Write-audit-publish: a session's writes are staged on ``spark.wap.branch`` or under ``spark.wap.id`` if the table allows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from icesql.errors import ValidationError
from icesql.spec.properties import WRITE_AUDIT_PUBLISH_ENABLED

if TYPE_CHECKING:
    from icesql.session.state.session_state import SessionState
    from icesql.spec.metadata import TableMetadata


def wap_of(session: SessionState, metadata: TableMetadata, explicit: str | None = None) -> tuple[str | None, str | None]:
    """``spark.wap.id`` and ``spark.wap.branch`` where the table has write.wap.enabled.

    Raises ValidationError for both at once, unless a branch is named explicitly, which goes before ``spark.wap.branch``.
    """
    if metadata.properties.get(WRITE_AUDIT_PUBLISH_ENABLED, "false").lower() != "true":
        return None, None
    wap_id, branch = session.conf("spark.wap.id"), session.wap_branch
    if wap_id is not None and branch is not None and explicit is None:
        raise ValidationError(f"Cannot set both WAP ID and branch, but got ID [{wap_id}] and branch [{branch}]")
    return wap_id, branch
