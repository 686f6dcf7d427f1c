"""The section ``access`` of the server's settings."""

from __future__ import annotations

from typing import Literal

import msgspec

from icesql.catalog.names import identifier_of
from icesql.server.access.privileges import Grant, Principal, Privilege


class _Section(msgspec.Struct, rename="kebab", kw_only=True, forbid_unknown_fields=True, frozen=True):
    pass


class TokenSettings(_Section, frozen=True):
    """A token that never changes, kept as its SHA-256: ``icesql serve --new-token NAME`` makes one."""

    principal: str
    sha256: str


class JwtSettings(_Section, frozen=True):
    """Tokens of an issuer. Its keys are at ``jwks_uri``, or in ``jwks_file``."""

    issuer: str
    audience: str
    jwks_uri: str | None = None
    jwks_file: str | None = None
    principal_claim: str = "sub"
    roles_claim: str | None = None
    """A claim that lists roles; each is granted what the principal ``role:NAME`` is."""
    algorithms: list[str] = msgspec.field(default_factory=lambda: ["RS256", "ES256", "EdDSA"])


class GrantSettings(_Section, frozen=True):
    """``on``: ``*``, a catalog, or ``catalog.namespace.table`` with as many levels as wanted; back-ticks around one with dots."""

    principal: str
    privilege: Literal["read", "insert", "modify", "admin"]
    on: str = "*"

    def grant(self) -> Grant:
        levels = () if self.on == "*" else identifier_of(self.on)
        return Grant(Privilege[self.privilege.upper()], levels)


class Access(_Section, frozen=True):
    tokens: list[TokenSettings] = msgspec.field(default_factory=list)
    jwt: JwtSettings | None = None
    grants: list[GrantSettings] = msgspec.field(default_factory=list)
    principals_in: str | None = None
    """A catalog whose database has further tokens and grants, in the tables icesql_server_tokens and icesql_server_grants."""
    allowed_locations: list[str] | None = None
    """Folders that tables, their files and registered metadata may lie in, besides the warehouse. Without it nothing but the warehouse
    is allowed where clients show who they are, and any place where they do not."""

    @property
    def is_open(self) -> bool:
        """Nobody is asked who he is."""
        return not self.tokens and self.jwt is None and self.principals_in is None

    def principal(self, name: str, roles: tuple[str, ...] = ()) -> Principal:
        names = names_of(name, roles)
        return Principal(name, tuple(grant.grant() for grant in self.grants if grant.principal in names))


def names_of(name: str, roles: tuple[str, ...] = ()) -> set[str]:
    """Those that grants may name to reach the principal."""
    return {name, *(f"role:{role}" for role in roles)}
