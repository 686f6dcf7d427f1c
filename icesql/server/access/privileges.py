"""Privileges on a catalog, a namespace or a table, and which of them an update of a commit takes.

    READ     load and list
    INSERT   produce snapshots that only add data files
    MODIFY   produce any snapshot: remove data files, add and remove delete files, by list, filter or partition
    ADMIN    everything else: schemas, properties, refs, locations, snapshots that the client built itself; create, drop, rename, register

A snapshot that a client built is opaque to the server, so adding one is ADMIN however little it changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from icesql.server.commits.requested import is_produced


class Privilege(IntEnum):
    """Each includes those before it."""

    READ = 1
    INSERT = 2
    MODIFY = 3
    ADMIN = 4


@dataclass(frozen=True, slots=True)
class Grant:
    """``on``: a catalog, and levels of a namespace, and a table, as many of them as it is for; ``()`` is for everything."""

    privilege: Privilege
    on: tuple[str, ...]

    def covers(self, place: tuple[str, ...]) -> bool:
        return place[: len(self.on)] == self.on


@dataclass(frozen=True, slots=True)
class Principal:
    """Someone who sends requests. ``name`` is for logs and events."""

    name: str
    grants: tuple[Grant, ...]

    def may(self, privilege: Privilege, place: tuple[str, ...]) -> bool:
        return any(grant.privilege >= privilege and grant.covers(place) for grant in self.grants)

    def may_see(self, place: tuple[str, ...]) -> bool:
        """Whether a list may name the place: it may be read, or something in it."""
        return any(grant.covers(place) or grant.on[: len(place)] == place for grant in self.grants)


EVERYONE = Principal("anonymous", (Grant(Privilege.ADMIN, ()),))
"""Of a server that asks nobody who he is."""

_ONLY_ADDS = frozenset(
    {"action", "operation", "add-data-files", "branch", "summary", "base-snapshot-id", "commit-validations", "case-sensitive",
     "merge-manifests", "added-files-match-filter", "fail-any-delete", "fail-missing-deletes", "stage-only"}
)  # fmt: skip


def privilege_for(update: Mapping[str, Any]) -> Privilege:
    """What an update of a commit takes. A key that is not known to be harmless counts as one that removes."""
    if not is_produced(dict(update)):
        return Privilege.ADMIN
    intent = update.get("operation") if update.get("action") == "produce-snapshot" else update.get("action")
    says_more = any(key not in _ONLY_ADDS and value not in (None, [], False) for key, value in update.items())
    return Privilege.INSERT if intent == "append" and not says_more else Privilege.MODIFY


def privilege_for_commit(requirements: Sequence[Mapping[str, Any]], updates: Sequence[Mapping[str, Any]]) -> Privilege:
    """What all of a commit takes: creating a table is ADMIN, and a commit without updates READ."""
    if any(requirement.get("type") == "assert-create" for requirement in requirements):
        return Privilege.ADMIN
    return max(map(privilege_for, updates), default=Privilege.READ)
