"""The oldest live data of a version: equality and position deletes that are older still apply to nothing. Spec: "Scan Planning"."""

from __future__ import annotations

from collections.abc import Iterable

from icesql.spec.files import ManifestFile


def oldest_data_sequence_number(last_number: int, manifests: Iterable[ManifestFile], number_of_added: int | None) -> int:
    """A lower bound of the live files' data sequence numbers after the commit: deletes with a lower number apply to nothing.

    ``manifests``: the data manifests that stay or are added whole. ``number_of_added``: the number that added files keep, ``None`` if
    they get the new snapshot's or there are none.
    """
    kept = [m.min_sequence_number for m in manifests if m.has_live_files and m.min_sequence_number >= 0]
    return min([last_number, *kept, *([] if number_of_added is None else [number_of_added])])
