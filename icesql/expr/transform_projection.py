"""The projection of one bound leaf through one partition transform, inclusive and strict. ``None`` means: nothing is known.

For order-preserving transforms the literal is first replaced by the neighbouring value (``x < 10`` is ``x <= 9`` for exact types), so that
the projected comparison is as narrow as possible.
"""

from __future__ import annotations

from icesql.errors import unknown_case
from icesql.expr.tree import FALSE, TRUE, BoundReference, Expression, Op, Predicate, and_, or_
from icesql.spec.partitioning import PartitionField
from icesql.spec.transforms import transform_function
from icesql.spec.types import DateType, DecimalType, IntegerType, LongType, StringType, Type
from icesql.spec.values.decimals import from_unscaled, unscaled

_NULL_CHECKS = (Op.IS_NULL, Op.NOT_NULL)
_TIMES = frozenset({"year", "month", "day", "hour"})


def inclusive_leaf(leaf: Predicate, field: PartitionField, target: BoundReference) -> Expression | None:
    """A predicate on ``target`` that holds for the partition value of every row that matches ``leaf``."""
    if leaf.op is Op.HOLDS:
        return None  # what it implies is a predicate beside it
    direct = _direct(leaf, field, target)
    if direct is not None or not _computable(leaf, field):
        return direct
    assert isinstance(leaf.term, BoundReference)
    projection = _Projection(leaf, field, target, leaf.term.type)
    match field.transform.name:
        case "bucket":
            return projection.equality_inclusive()
        case "truncate" if isinstance(leaf.term.type, (IntegerType, LongType, DecimalType)):
            return projection.truncated_number_inclusive()
        case "truncate":
            return projection.truncated_text_inclusive()
        case name if name in _TIMES:
            return projection.time_inclusive()
        case _:
            return None  # no partition is left out


def strict_leaf(leaf: Predicate, field: PartitionField, target: BoundReference) -> Expression | None:
    """A predicate on ``target`` that holds only for partition values all of whose rows match ``leaf``."""
    if leaf.op is Op.HOLDS:
        return None  # what it implies is a predicate beside it
    direct = _direct(leaf, field, target)
    if direct is not None or not _computable(leaf, field):
        return direct
    assert isinstance(leaf.term, BoundReference)
    projection = _Projection(leaf, field, target, leaf.term.type)
    match field.transform.name:
        case "bucket":
            return projection.inequality_strict()
        case "truncate" if isinstance(leaf.term.type, (IntegerType, LongType, DecimalType)):
            return projection.truncated_number_strict()
        case "truncate":
            return projection.truncated_text_strict()
        case name if name in _TIMES:
            return projection.time_strict()
        case _:
            return None  # no partition matches as a whole


def _direct(leaf: Predicate, field: PartitionField, target: BoundReference) -> Expression | None:
    """Projections that are exact: identity fields, null checks, and terms under the field's own transform."""
    assert isinstance(leaf.term, BoundReference)
    if not field.transform.is_known or field.transform.is_void:
        return None
    if field.transform.is_identity:
        inner = BoundReference(target.field, leaf.term.type, leaf.term.transform, target.name)
        return Predicate(leaf.op, inner, leaf.literals)
    if leaf.op in _NULL_CHECKS or leaf.term.transform == field.transform:
        return Predicate(leaf.op, target, leaf.literals)
    return None


def _computable(leaf: Predicate, field: PartitionField) -> bool:
    assert isinstance(leaf.term, BoundReference)
    return leaf.term.transform is None and field.transform.is_known and not field.transform.is_void


class _Projection:
    """One leaf, its transform as a function, and the neighbours of its literal."""

    __slots__ = ("apply", "field", "leaf", "target", "type")

    def __init__(self, leaf: Predicate, field: PartitionField, target: BoundReference, type_: Type) -> None:
        self.leaf, self.field, self.target, self.type = leaf, field, target, type_
        self.apply = transform_function(field.transform, type_)

    @property
    def width(self) -> int:
        assert self.field.transform.width is not None
        return self.field.transform.width

    def compare(self, op: Op, value: object) -> Expression:
        return Predicate(op, self.target, (value,))

    def among(self, values: list[object], *, negated: bool = False) -> Expression:
        distinct = tuple(dict.fromkeys(values))
        if len(distinct) == 1:
            return Predicate(Op.NOT_EQ if negated else Op.EQ, self.target, distinct)
        return Predicate(Op.NOT_IN if negated else Op.IN, self.target, distinct)

    def images(self) -> list[object]:
        return [self.apply(value) for value in self.leaf.literals]

    # -- equality only ---------------------------------------------------------------------------------------------
    def equality_inclusive(self) -> Expression | None:
        return self.among(self.images()) if self.leaf.op in (Op.EQ, Op.IN) else None

    def inequality_strict(self) -> Expression | None:
        return self.among(self.images(), negated=True) if self.leaf.op in (Op.NOT_EQ, Op.NOT_IN) else None

    # -- truncate over numbers -------------------------------------------------------------------------------------
    def truncated_number_inclusive(self) -> Expression | None:
        match self.leaf.op:
            case Op.LT:
                return self._at_most(self._moved(-1))
            case Op.LT_EQ:
                return self._at_most(self.leaf.literal)
            case Op.GT:
                return self._at_least(self._moved(1))
            case Op.GT_EQ:
                return self._at_least(self.leaf.literal)
            case Op.EQ | Op.IN | Op.NOT_EQ | Op.NOT_IN:
                return self.equality_inclusive()
            case Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.STARTS_WITH | Op.NOT_STARTS_WITH | Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
                return None
            case _:
                raise unknown_case(self.leaf.op)

    def truncated_number_strict(self) -> Expression | None:
        match self.leaf.op:
            case Op.LT:
                return self._below(self.leaf.literal)
            case Op.LT_EQ:
                return self._below(self._moved(1))
            case Op.GT:
                return self._above(self.leaf.literal)
            case Op.GT_EQ:
                return self._above(self._moved(-1))
            case Op.EQ | Op.IN | Op.NOT_EQ | Op.NOT_IN:
                return self.inequality_strict()
            case Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.STARTS_WITH | Op.NOT_STARTS_WITH | Op.LIKE | Op.NOT_LIKE | Op.HOLDS:
                return None
            case _:
                raise unknown_case(self.leaf.op)

    def _moved(self, by: int) -> object | None:
        """The neighbour of the literal, ``None`` at the end of the type's range."""
        value = self.leaf.literal
        if isinstance(self.type, DecimalType):
            return from_unscaled(unscaled(value, self.type.scale) + by, self.type.scale)  # type: ignore[arg-type]
        assert isinstance(value, int)
        moved = value + by
        limits = _limits(self.type)
        return moved if limits is None or limits[0] <= moved <= limits[1] else None

    def _at_most(self, value: object | None) -> Expression:
        """``T(x) <= T(value)`` and, for integers, the partition of the smallest values, which wraps around to a large one."""
        if value is None:
            return FALSE
        wrapped = self._wrapped()
        if wrapped is not None and self.apply(value) == wrapped:
            return self.compare(Op.EQ, wrapped)
        below = self.compare(Op.LT_EQ, self.apply(value))
        return below if wrapped is None else or_(below, self.compare(Op.EQ, wrapped))

    def _at_least(self, value: object | None) -> Expression:
        if value is None:
            return FALSE
        if self._is_wrapped(value):
            return TRUE
        return self.compare(Op.GT_EQ, self.apply(value))

    def _below(self, value: object | None) -> Expression | None:
        if value is None or self._is_wrapped(value):
            return None
        return self.compare(Op.LT, self.apply(value))

    def _above(self, value: object | None) -> Expression | None:
        if value is None or self._is_wrapped(value):
            return None
        above = self.compare(Op.GT, self.apply(value))
        wrapped = self._wrapped()
        return above if wrapped is None else and_(above, self.compare(Op.NOT_EQ, wrapped))

    def _wrapped(self) -> object | None:
        """The partition value of the type's smallest values, if truncation wraps around there."""
        limits = _limits(self.type)
        if limits is None or limits[0] % self.width == 0:
            return None
        wrapped: object = self.apply(limits[0])
        return wrapped

    def _is_wrapped(self, value: object) -> bool:
        wrapped = self._wrapped()
        return wrapped is not None and self.apply(value) == wrapped

    # -- truncate over strings and binary --------------------------------------------------------------------------
    def truncated_text_inclusive(self) -> Expression | None:
        match self.leaf.op:
            case Op.LT | Op.LT_EQ:
                return self.compare(Op.LT_EQ, self.apply(self.leaf.literal))
            case Op.GT | Op.GT_EQ:
                return self.compare(Op.GT_EQ, self.apply(self.leaf.literal))
            case Op.STARTS_WITH:
                return self._prefix_inclusive()
            case Op.NOT_STARTS_WITH:
                return self._not_prefix_inclusive()
            case (
                Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.EQ | Op.NOT_EQ | Op.IN | Op.NOT_IN | Op.LIKE | Op.NOT_LIKE | Op.HOLDS
            ):
                return self.equality_inclusive()
            case _:
                raise unknown_case(self.leaf.op)

    def truncated_text_strict(self) -> Expression | None:
        match self.leaf.op:
            case Op.LT | Op.LT_EQ:
                return self.compare(Op.LT, self.apply(self.leaf.literal))
            case Op.GT:
                return self.compare(Op.GT, self.apply(self.leaf.literal))
            case Op.GT_EQ:
                whole = self.apply(self.leaf.literal) == self.leaf.literal
                return self.compare(Op.GT_EQ if whole else Op.GT, self.apply(self.leaf.literal))
            case Op.STARTS_WITH:
                return self._prefix_strict()
            case Op.NOT_STARTS_WITH:
                return self._not_prefix_strict()
            case (
                Op.IS_NULL | Op.NOT_NULL | Op.IS_NAN | Op.NOT_NAN | Op.EQ | Op.NOT_EQ | Op.IN | Op.NOT_IN | Op.LIKE | Op.NOT_LIKE | Op.HOLDS
            ):
                return self.inequality_strict()
            case _:
                raise unknown_case(self.leaf.op)

    def _prefix_inclusive(self) -> Expression:
        prefix = self.apply(self.leaf.literal)
        return self.compare(Op.STARTS_WITH if len(prefix) < self.width else Op.EQ, prefix)

    def _not_prefix_inclusive(self) -> Expression | None:
        prefix = self.leaf.literal
        assert isinstance(prefix, str)
        if len(prefix) > self.width:
            return None
        return self.compare(Op.NOT_STARTS_WITH if len(prefix) < self.width else Op.NOT_EQ, prefix)

    def _prefix_strict(self) -> Expression | None:
        prefix = self.leaf.literal
        assert isinstance(prefix, str)
        if len(prefix) > self.width:
            return None
        return self.compare(Op.STARTS_WITH if len(prefix) < self.width else Op.EQ, prefix)

    def _not_prefix_strict(self) -> Expression:
        prefix = self.apply(self.leaf.literal)
        return self.compare(Op.NOT_STARTS_WITH if len(prefix) < self.width else Op.NOT_EQ, prefix)

    # -- dates and times -------------------------------------------------------------------------------------------
    # Early writers rounded times before 1970 towards zero, one partition too late; both places are kept.
    @property
    def _may_be_late(self) -> bool:
        return not (isinstance(self.type, DateType) and self.field.transform.name == "day")

    def time_inclusive(self) -> Expression | None:
        match self.leaf.op:
            case Op.LT:
                return self._time_at_most(self._moved(-1))
            case Op.LT_EQ:
                return self._time_at_most(self.leaf.literal)
            case Op.GT:
                moved = self._moved(1)
                return FALSE if moved is None else self.compare(Op.GT_EQ, self.apply(moved))
            case Op.GT_EQ:
                return self.compare(Op.GT_EQ, self.apply(self.leaf.literal))
            case Op.EQ | Op.IN:
                return self.among(self._with_late(self.images()))
            case (
                Op.IS_NULL
                | Op.NOT_NULL
                | Op.IS_NAN
                | Op.NOT_NAN
                | Op.NOT_EQ
                | Op.NOT_IN
                | Op.STARTS_WITH
                | Op.NOT_STARTS_WITH
                | Op.LIKE
                | Op.NOT_LIKE
                | Op.HOLDS
            ):
                return None
            case _:
                raise unknown_case(self.leaf.op)

    def _time_at_most(self, value: object | None) -> Expression:
        if value is None:
            return FALSE
        image = self.apply(value)
        return self.compare(Op.LT_EQ, image + 1 if self._may_be_late and image < 0 else image)

    def _with_late(self, images: list[object]) -> list[object]:
        if not self._may_be_late:
            return images
        return [each for image in images if isinstance(image, int) for each in ((image, image + 1) if image < 0 else (image,))]

    def time_strict(self) -> Expression | None:
        match self.leaf.op:
            case Op.LT:
                return self.compare(Op.LT, self.apply(self.leaf.literal))
            case Op.LT_EQ:
                moved = self._moved(1)
                return None if moved is None else self.compare(Op.LT, self.apply(moved))
            case Op.GT:
                return self._time_above(self.leaf.literal)
            case Op.GT_EQ:
                return self._time_above(self._moved(-1))
            case Op.NOT_EQ | Op.NOT_IN:
                return self.among(self._with_late(self.images()), negated=True)
            case (
                Op.IS_NULL
                | Op.NOT_NULL
                | Op.IS_NAN
                | Op.NOT_NAN
                | Op.EQ
                | Op.IN
                | Op.STARTS_WITH
                | Op.NOT_STARTS_WITH
                | Op.LIKE
                | Op.NOT_LIKE
                | Op.HOLDS
            ):
                return None
            case _:
                raise unknown_case(self.leaf.op)

    def _time_above(self, value: object | None) -> Expression | None:
        if value is None:
            return None
        image = self.apply(value)
        return self.compare(Op.GT, image + 1 if self._may_be_late and image < 0 else image)


def _limits(type_: Type) -> tuple[int, int] | None:
    match type_:
        case IntegerType() | DateType():
            return -(2**31), 2**31 - 1
        case DecimalType() | StringType():
            return None
        case _:
            return -(2**63), 2**63 - 1
