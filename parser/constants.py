"""Constants written in SQL text, folded where that needs no engine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal and its Spark type.

    ``type`` is Spark's simple name: void, boolean, tinyint, smallint, int, bigint, float, double, ``decimal(p,s)``, string, binary, date,
    timestamp, timestamp_ntz, ``array<...>``, ``map<...>``. ``value`` is bool, int, float, Decimal, str, bytes or None; dates and timestamps
    are the text of the literal (the session's zone decides the instant); an array is a tuple of constants, a map a
    tuple of pairs of constants.
    """

    value: object
    type: str
