"""A part of a plan as the opaque text that the protocol calls a plan task: all that it takes to plan that part again, anywhere, later."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import dataclass
from typing import Any

from icesql.server.problems import Problem
from icesql.table.remote_scan.plan_request import PlanRequest, plan_request_from_json, plan_request_to_json

_MOST_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPart:
    """The data manifests ``first`` to before ``end``, of those that may hold matching rows, and of their files those from ``skip`` on.

    ``request`` names its snapshots, though a client may leave that to the server; ``schema_id`` is the schema that it reads under.
    """

    request: PlanRequest
    schema_id: int
    first: int
    end: int
    skip: int = 0


def part_to_text(part: PlanPart) -> str:
    node = [plan_request_to_json(part.request), part.schema_id, part.first, part.end, part.skip]
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(node, separators=(",", ":")).encode())).decode().rstrip("=")


def part_from_text(text: str) -> PlanPart:
    """Raises Problem 404 for what is no part of a plan."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        inflate = zlib.decompressobj()
        request, *numbers = json.loads(inflate.decompress(data, _MOST_BYTES))
        schema_id, first, end, skip = (_number(number) for number in numbers)
        return PlanPart(request=plan_request_from_json(request), schema_id=schema_id, first=first, end=end, skip=skip)
    except (ValueError, TypeError, RecursionError, binascii.Error, zlib.error):  # also what is wrong with the request
        raise no_such_part() from None


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def no_such_part() -> Problem:
    return Problem(404, "NoSuchPlanTaskException", "Plan task does not exist: none of this table, or its snapshot is expired")
