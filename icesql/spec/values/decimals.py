"""Decimals to and from unscaled integers, exactly, whatever the caller's decimal context."""

from __future__ import annotations

from decimal import Context, Decimal, Inexact, localcontext

_WIDE = Context(prec=100, traps=[Inexact])


def from_unscaled(unscaled: int, scale: int) -> Decimal:
    """The decimal ``unscaled * 10**-scale``, with exactly ``scale`` fraction digits."""
    return Decimal(unscaled).scaleb(-scale, _WIDE)


def unscaled(value: Decimal, scale: int) -> int:
    """The integer ``value * 10**scale``. Raises ``decimal.Inexact`` where the value has more fraction digits."""
    with localcontext(_WIDE):
        return int(value.quantize(Decimal(1).scaleb(-scale)).scaleb(scale))


def precision(value: Decimal) -> int:
    """Decimal digits of the unscaled value."""
    return len(value.as_tuple().digits)


def to_twos_complement(value: int) -> bytes:
    """The fewest big-endian two's-complement bytes that hold ``value``, as Java's ``BigInteger.toByteArray``."""
    size = (value if value >= 0 else ~value).bit_length() // 8 + 1
    return value.to_bytes(size, "big", signed=True)
