"""Writing one object: in one request if it is small, else in parts on the way. It is there whole once closed, or not at all."""

from __future__ import annotations

import io
import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any

Put = Callable[[Any], Any]
"""Uploads bytes in one request, or the parts that an iterator yields; an error of the iterator leaves no part behind."""


class AbandonedError(Exception):
    """The writer gave up: the parts sent so far are to be removed."""


class ObjectOutput(io.RawIOBase):
    """A stream into a new object. ``close`` makes the object; ``abandon``, or to let go of the stream, leaves nothing."""

    def __init__(self, put: Put, put_parts: Put, part_bytes: int) -> None:
        self._put, self._put_parts, self._part_bytes = put, put_parts, part_bytes
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._written = 0
        self._upload: _Upload | None = None

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._pending.append(bytes(view))
        self._pending_bytes += len(view)
        self._written += len(view)
        if self._pending_bytes >= self._part_bytes:
            self._send()
        return len(view)

    def _send(self) -> None:
        if self._upload is None:
            self._upload = _Upload(self._put_parts)
        part, self._pending, self._pending_bytes = b"".join(self._pending), [], 0
        self._upload.add(part)

    def tell(self) -> int:
        return self._written

    def writable(self) -> bool:
        return True

    def flush(self) -> None:
        """Nothing is sent before there is a part."""

    def close(self) -> None:
        """Raises StoreError if the store did not take it all; then there is no object. A second call does nothing."""
        if self.closed:
            return
        upload, pending = self._upload, b"".join(self._pending)
        self._upload, self._pending = None, []
        super().close()
        if upload is None:
            self._put(pending)
            return
        if pending:
            upload.add(pending)
        upload.finish()

    def abandon(self) -> None:
        """Make no object, and remove the parts sent so far."""
        if self.closed:
            return
        upload, self._upload, self._pending = self._upload, None, []
        super().close()
        if upload is not None:
            upload.abandon()

    def __del__(self) -> None:
        self.abandon()  # what its writer did not close is not whole

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


_END, _ABANDON = object(), object()


class _Upload:
    """Parts on their way, in a thread of their own. At most two wait: a writer faster than the network is held back."""

    def __init__(self, put_parts: Put) -> None:
        self._parts: queue.Queue[Any] = queue.Queue(2)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(put_parts,), name="icesql-upload", daemon=True)
        self._thread.start()

    def _run(self, put_parts: Put) -> None:
        try:
            put_parts(self._yielded())
        except BaseException as error:
            self._error = error

    def _yielded(self) -> Iterator[bytes]:
        while (part := self._parts.get()) is not _END:
            if part is _ABANDON:
                raise AbandonedError
            yield part

    def add(self, part: Any) -> None:
        """Raises what the upload has failed with."""
        while True:
            if not self._thread.is_alive():
                self._raise()
            try:
                self._parts.put(part, timeout=0.2)
            except queue.Full:
                continue
            return

    def finish(self) -> None:
        self.add(_END)
        self._thread.join()
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        while self._thread.is_alive():
            try:
                self._parts.put(_ABANDON, timeout=0.2)
            except queue.Full:
                continue
            break
        self._thread.join()
