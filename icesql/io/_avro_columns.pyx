# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The native twin of ``icesql.io.avro.columns_python``: walk Avro records and keep wanted values as columns.

Every read is checked against the end of its block, every loop is bounded by the bytes left, or, where values have no bytes, by the
budget of ``icesql.spec.budgets``. Long loops look for signals. Errors are ValueError(why, place).
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8

from icesql.spec import budgets

cdef enum:
    NULL_ = 0
    BOOL = 1
    VARINT = 2
    RAW = 3
    BYTES = 4
    RECORD = 5
    ARRAY = 6
    MAP = 7
    UNION = 8
    KEYED = 9
    SKIP = 10

cdef int64_t IDLE_FLOOR = budgets.IDLE_STEPS_FLOOR
cdef int64_t IDLE_PER_BYTE = budgets.IDLE_STEPS_PER_BYTE

cdef enum:
    ROWS_BETWEEN_SIGNALS = 16384
    ITEMS_BETWEEN_SIGNALS = 65536

cdef struct State:
    const uint8_t* base
    int64_t idle
    int64_t idle_limit
    const uint8_t* p
    const uint8_t* end
    const int32_t* program
    const int64_t* wanted
    int64_t wanted_count
    int64_t row
    int64_t rows
    int64_t* ints
    uint8_t* present
    int64_t* offsets
    int32_t* lengths
    int64_t* marks
    int why

cdef enum:
    OK = 0
    PAST_END = 1
    BEYOND_64_BITS = 2
    BAD_BRANCH = 3
    BAD_LENGTH = 4
    LONG_ARRAY = 5
    TOO_IDLE = 6

REASONS = (
    "", "value past the end", "integer beyond 64 bits", "no such union branch", "negative length", "array longer than the data",
    "too many values of no bytes",
)


cdef inline int step_idle(State* s) noexcept nogil:
    """Count a value of no bytes."""
    s.idle += 1
    if s.idle > s.idle_limit and s.idle > s.idle_limit + IDLE_PER_BYTE * (s.p - s.base):
        s.why = TOO_IDLE
        return -1
    return 0


cdef inline int read_varint(State* s, int64_t* out) noexcept nogil:
    cdef uint64_t value = 0, byte
    cdef int shift = 0
    cdef const uint8_t* p = s.p
    while True:
        if p >= s.end:
            s.why = PAST_END
            return -1
        byte = p[0]
        p += 1
        if shift == 63 and byte > 1:
            s.why = BEYOND_64_BITS
            return -1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    s.p = p
    out[0] = <int64_t>(value >> 1) ^ -<int64_t>(value & 1)
    return 0


cdef inline int read_count(State* s, int64_t* out) noexcept nogil:
    cdef int64_t count, size
    if read_varint(s, &count) < 0:
        return -1
    if count < 0:
        if count < -(<int64_t>1 << 62):
            s.why = LONG_ARRAY
            return -1
        count = -count
        if read_varint(s, &size) < 0:
            return -1
    if count > s.end - s.p:
        s.why = LONG_ARRAY
        return -1
    out[0] = count
    return 0


cdef inline int read_span(State* s, int64_t* length) noexcept nogil:
    if read_varint(s, length) < 0:
        return -1
    if length[0] < 0:
        s.why = BAD_LENGTH
        return -1
    if length[0] > s.end - s.p:
        s.why = PAST_END
        return -1
    return 0


cdef inline int64_t find_wanted(State* s, int64_t key) noexcept nogil:
    cdef int64_t low = 0, high = s.wanted_count, middle
    while low < high:
        middle = (low + high) >> 1
        if s.wanted[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < s.wanted_count and s.wanted[low] == key:
        return low
    return -1


cdef inline void keep_int(State* s, int64_t slot, int64_t value) noexcept nogil:
    s.ints[slot * s.rows + s.row] = value
    s.present[slot * s.rows + s.row] = 1


cdef inline void keep_span(State* s, int64_t slot, int64_t length) noexcept nogil:
    s.offsets[slot * s.rows + s.row] = s.p - s.base
    s.lengths[slot * s.rows + s.row] = <int32_t>length


cdef int walk_keyed(State* s, const int32_t* node) noexcept nogil:
    """Iceberg's maps: arrays of (int key, long or bytes value)."""
    cdef int is_bytes = node[1]
    cdef int64_t slot = node[2], count, key, value, found
    while True:
        if read_count(s, &count) < 0:
            return -1
        if count == 0:
            return 0
        while count > 0:
            count -= 1
            if read_varint(s, &key) < 0:
                return -1
            found = -1 if slot < 0 else find_wanted(s, key)
            if is_bytes:
                if read_span(s, &value) < 0:
                    return -1
                if found >= 0:
                    keep_span(s, slot + found, value)
                s.p += value
            else:
                if read_varint(s, &value) < 0:
                    return -1
                if found >= 0:
                    keep_int(s, slot + found, value)


cdef int walk_items(State* s, int32_t child, bint keyed) noexcept nogil:
    cdef int64_t count, length
    while True:
        if read_count(s, &count) < 0:
            return -1
        if count == 0:
            return 0
        while count > 0:
            count -= 1
            if keyed:
                if read_span(s, &length) < 0:
                    return -1
                s.p += length
            if walk(s, child) < 0:
                return -1


cdef int walk(State* s, int32_t pc) noexcept nogil:
    cdef const int32_t* node = s.program + pc
    cdef int64_t value
    cdef int32_t i, op = node[0]
    if op == VARINT:
        if read_varint(s, &value) < 0:
            return -1
        if node[1] >= 0:
            keep_int(s, node[1], value)
        return 0
    if op == UNION:
        if read_varint(s, &value) < 0:
            return -1
        if value < 0 or value >= node[1]:
            s.why = BAD_BRANCH
            return -1
        i = node[2 + value]
        return 0 if s.program[i] == NULL_ else walk(s, i)
    if op == NULL_:
        return step_idle(s)
    if op == BYTES:
        if read_span(s, &value) < 0:
            return -1
        if node[1] >= 0:
            keep_span(s, node[1], value)
        s.p += value
        return 0
    if op == KEYED:
        return walk_keyed(s, node)
    if op == RECORD:
        if node[1] == 0 and step_idle(s) < 0:
            return -1
        if node[2] >= 0:
            s.marks[node[2] * s.rows + s.row] = s.p - s.base
        for i in range(node[1]):
            if walk(s, node[3 + i]) < 0:
                return -1
        if node[2] >= 0:
            s.marks[(node[2] + 1) * s.rows + s.row] = s.p - s.base
        return 0
    if op == RAW:
        if node[2] > s.end - s.p:
            s.why = PAST_END
            return -1
        if node[2] == 0 and step_idle(s) < 0:
            return -1
        if node[1] >= 0:
            keep_span(s, node[1], node[2])
        s.p += node[2]
        return 0
    if op == BOOL:
        if s.p >= s.end:
            s.why = PAST_END
            return -1
        if node[1] >= 0:
            keep_int(s, node[1], s.p[0] != 0)
        s.p += 1
        return 0
    if op == ARRAY:
        return walk_items(s, node[1], False)
    return walk_items(s, node[1], True)


def decode_rows(bytes buffer not None, const int64_t[:, ::1] blocks, const int32_t[::1] program, const int64_t[::1] wanted, int64_t rows,
                int64_t[:, ::1] ints, uint8_t[:, ::1] present, int64_t[:, ::1] offsets, int32_t[:, ::1] lengths, int64_t[:, ::1] marks):
    """Fill the columns. ``blocks`` holds (count, start, end); the program's root is at 0; each array has one row a slot, ``rows`` columns."""
    cdef State s
    cdef Py_ssize_t b, size = PyBytes_GET_SIZE(buffer)
    cdef int64_t count, i, total = 0
    for b in range(blocks.shape[0]):
        if blocks[b, 0] < 0 or blocks[b, 1] < 0 or blocks[b, 2] < blocks[b, 1] or blocks[b, 2] > size:
            raise ValueError("block outside the buffer", 0)
        total += blocks[b, 0]
    if total != rows or ints.shape[1] < rows or present.shape[1] < rows or offsets.shape[1] < rows or lengths.shape[1] < rows or marks.shape[1] < rows:
        raise ValueError("columns of another length", 0)
    if rows == 0:
        for b in range(blocks.shape[0]):
            if blocks[b, 2] > blocks[b, 1]:
                raise ValueError("block does not end with its last record", blocks[b, 1])
        return
    s.base = <const uint8_t*>PyBytes_AS_STRING(buffer)
    s.program = &program[0]
    s.wanted = &wanted[0] if wanted.shape[0] else NULL
    s.wanted_count = wanted.shape[0]
    s.rows, s.row, s.why, s.idle, s.idle_limit = rows, 0, OK, 0, IDLE_FLOOR
    s.ints, s.present = &ints[0, 0], &present[0, 0]
    s.offsets, s.lengths, s.marks = &offsets[0, 0], &lengths[0, 0], &marks[0, 0]
    cdef int64_t place = 0
    cdef int failed = 0
    with nogil:
        for b in range(blocks.shape[0]):
            s.p = s.base + blocks[b, 1]
            s.end = s.base + blocks[b, 2]
            for i in range(blocks[b, 0]):
                if s.row % ROWS_BETWEEN_SIGNALS == 0:
                    with gil:
                        PyErr_CheckSignals()
                place = s.p - s.base
                if walk(&s, 0) < 0:
                    failed = 1
                    break
                s.row += 1
            if failed:
                break
            if s.p != s.end:
                failed = 2
                place = s.p - s.base
                break
    if failed == 1:
        raise ValueError(REASONS[s.why], place)
    if failed == 2:
        raise ValueError("block does not end with its last record", place)


def split_blocks(bytes data not None, Py_ssize_t start, bytes sync not None, decompress):
    """(list of inflated blocks, list of (count, start, end) in their concatenation). Raises ValueError(why, place)."""
    cdef State s
    cdef Py_ssize_t size = PyBytes_GET_SIZE(data), at = 0, length
    cdef int64_t count, span, place
    cdef const uint8_t* base = <const uint8_t*>PyBytes_AS_STRING(data)
    cdef const char* marker = PyBytes_AS_STRING(sync)
    cdef bytes plain
    if PyBytes_GET_SIZE(sync) != 16 or start > size:
        raise ValueError("truncated header", start)
    s.base, s.p, s.end, s.why = base, base + start, base + size, OK
    parts, spans = [], []
    while s.p < s.end:
        place = s.p - base
        if read_varint(&s, &count) < 0 or read_span(&s, &span) < 0:
            raise ValueError("truncated block: " + REASONS[s.why], place)
        if s.end - s.p - span < 16:
            raise ValueError("truncated block", place)
        if memcmp(s.p + span, marker, 16) != 0:
            raise ValueError("block does not end with the sync marker", s.p + span - base)
        try:
            plain = decompress(data[s.p - base : s.p - base + span])
        except MemoryError:
            raise
        except Exception as error:
            raise ValueError(f"damaged block: {error}", place) from error
        s.p += span + 16
        length = PyBytes_GET_SIZE(plain)
        if count < 0 or count > length:
            raise ValueError(f"block of {length} bytes claims {count} records", place)
        PyErr_CheckSignals()
        parts.append(plain)
        spans.append((count, at, at + length))
        at += length
    return parts, spans


def texts(bytes buffer not None, const int64_t[::1] offsets, const int32_t[::1] lengths):
    """Strings at spans of a buffer; ``None`` where the length is negative. Raises UnicodeDecodeError, ValueError."""
    cdef Py_ssize_t i, n = offsets.shape[0], size = PyBytes_GET_SIZE(buffer)
    cdef const char* base = PyBytes_AS_STRING(buffer)
    if lengths.shape[0] != n:
        raise ValueError("columns of another length", 0)
    found = [None] * n
    for i in range(n):
        if lengths[i] >= 0:
            if offsets[i] < 0 or offsets[i] + lengths[i] > size:
                raise ValueError("value past the end", 0)
            found[i] = PyUnicode_DecodeUTF8(base + offsets[i], lengths[i], NULL)
    return found


cdef object build(State* s, int32_t pc, list keys, list converters):
    """The Python value at a node. A field of a record that is a SKIP node is walked over and left out. Slots mean: BYTES 0 bytes, 1 text, 2 + i converter; RAW 0 bytes, 1 float, 2 double, 3 + i converter;
    KEYED is_bytes 0 long, 1 bytes, 2 text; the mark of a RECORD is the index of its keys."""
    cdef const int32_t* node = s.program + pc
    cdef int64_t value, count
    cdef int32_t i, op = node[0]
    cdef float narrow
    cdef double wide
    cdef tuple names
    if op == VARINT:
        if read_varint(s, &value) < 0:
            raise ValueError(REASONS[s.why])
        return value
    if op == UNION:
        if read_varint(s, &value) < 0:
            raise ValueError(REASONS[s.why])
        if value < 0 or value >= node[1]:
            raise ValueError(REASONS[<int>BAD_BRANCH])
        i = node[2 + value]
        return None if s.program[i] == NULL_ else build(s, i, keys, converters)
    if op == NULL_:
        if step_idle(s) < 0:
            raise ValueError(REASONS[s.why])
        return None
    if op == BYTES:
        if read_span(s, &value) < 0:
            raise ValueError(REASONS[s.why])
        if node[1] == 1:
            found = PyUnicode_DecodeUTF8(<const char*>s.p, value, NULL)
        else:
            found = PyBytes_FromStringAndSize(<const char*>s.p, value)
            if node[1] > 1:
                found = converters[node[1] - 2](found)
        s.p += value
        return found
    if op == KEYED:
        pairs = {}
        while True:
            if read_count(s, &count) < 0:
                raise ValueError(REASONS[s.why])
            if count == 0:
                return pairs
            while count > 0:
                count -= 1
                if count % ITEMS_BETWEEN_SIGNALS == 0:
                    PyErr_CheckSignals()
                if read_varint(s, &value) < 0:
                    raise ValueError(REASONS[s.why])
                key = value
                if node[1] == 0:
                    if read_varint(s, &value) < 0:
                        raise ValueError(REASONS[s.why])
                    pairs[key] = value
                else:
                    if read_span(s, &value) < 0:
                        raise ValueError(REASONS[s.why])
                    if node[1] == 1:
                        pairs[key] = PyBytes_FromStringAndSize(<const char*>s.p, value)
                    else:
                        pairs[key] = PyUnicode_DecodeUTF8(<const char*>s.p, value, NULL)
                    s.p += value
    if op == RECORD:
        if node[1] == 0 and step_idle(s) < 0:
            raise ValueError(REASONS[s.why])
        names = keys[node[2]]
        fields = {}
        for i in range(node[1]):
            if s.program[node[3 + i]] == SKIP:
                if walk(s, s.program[node[3 + i] + 1]) < 0:
                    raise ValueError(REASONS[s.why])
            else:
                fields[names[i]] = build(s, node[3 + i], keys, converters)
        return fields
    if op == RAW:
        if node[2] > s.end - s.p:
            raise ValueError(REASONS[<int>PAST_END])
        if node[2] == 0 and step_idle(s) < 0:
            raise ValueError(REASONS[s.why])
        if node[1] == 1:
            memcpy(&narrow, s.p, 4)
            found = <double>narrow
        elif node[1] == 2:
            memcpy(&wide, s.p, 8)
            found = wide
        else:
            found = PyBytes_FromStringAndSize(<const char*>s.p, node[2])
            if node[1] > 2:
                found = converters[node[1] - 3](found)
        s.p += node[2]
        return found
    if op == BOOL:
        if s.p >= s.end:
            raise ValueError(REASONS[<int>PAST_END])
        s.p += 1
        return (s.p - 1)[0] != 0
    if op == ARRAY or op == MAP:
        items, pairs = [], {}
        while True:
            if read_count(s, &count) < 0:
                raise ValueError(REASONS[s.why])
            if count == 0:
                return items if op == ARRAY else pairs
            while count > 0:
                count -= 1
                if count % ITEMS_BETWEEN_SIGNALS == 0:
                    PyErr_CheckSignals()
                if op == ARRAY:
                    items.append(build(s, node[1], keys, converters))
                else:
                    if read_span(s, &value) < 0:
                        raise ValueError(REASONS[s.why])
                    key = PyUnicode_DecodeUTF8(<const char*>s.p, value, NULL)
                    s.p += value
                    pairs[key] = build(s, node[1], keys, converters)
    raise ValueError("unknown node")


cdef class Idle:
    """The values of no bytes that one decoder has met in all its records, and the bytes of these."""
    cdef int64_t steps
    cdef int64_t decoded


def decode_object(bytes buffer not None, Py_ssize_t position, const int32_t[::1] program, list keys not None, list converters not None,
                  Idle idle not None):
    """(value, position after it) of the record at a position. Raises ValueError, UnicodeDecodeError."""
    cdef State s
    if position < 0 or position > PyBytes_GET_SIZE(buffer):
        raise ValueError(REASONS[<int>PAST_END])
    s.base = <const uint8_t*>PyBytes_AS_STRING(buffer) + position
    s.p, s.end, s.why = s.base, <const uint8_t*>PyBytes_AS_STRING(buffer) + PyBytes_GET_SIZE(buffer), OK
    s.idle, s.idle_limit = idle.steps, IDLE_FLOOR + IDLE_PER_BYTE * idle.decoded
    s.program = &program[0]
    found = build(&s, 0, keys, converters)
    idle.steps = s.idle
    idle.decoded += s.p - s.base
    return found, position + (s.p - s.base)


def decode_objects(bytes buffer not None, Py_ssize_t position, Py_ssize_t end, Py_ssize_t count, const int32_t[::1] program,
                   list keys not None, list converters not None, Idle idle not None):
    """(values, position after them) of ``count`` records in the bytes up to ``end``. Raises ValueError(why, place)."""
    cdef State s
    cdef Py_ssize_t i, size = PyBytes_GET_SIZE(buffer)
    if position < 0 or end < position or end > size:
        raise ValueError("block outside the buffer", position)
    s.base = <const uint8_t*>PyBytes_AS_STRING(buffer) + position
    s.p, s.end, s.why = s.base, <const uint8_t*>PyBytes_AS_STRING(buffer) + end, OK
    s.idle, s.idle_limit = idle.steps, IDLE_FLOOR + IDLE_PER_BYTE * idle.decoded
    s.program = &program[0]
    values = []
    for i in range(count):
        place = position + (s.p - s.base)
        if i % ROWS_BETWEEN_SIGNALS == 0:
            PyErr_CheckSignals()
        try:
            values.append(build(&s, 0, keys, converters))
        except (ValueError, ArithmeticError) as error:
            raise ValueError(str(error), place) from error
    idle.steps = s.idle
    idle.decoded += s.p - s.base
    return values, position + (s.p - s.base)
