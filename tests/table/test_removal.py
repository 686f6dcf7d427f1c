"""The gate of removals: what may go, and what hostile metadata cannot make go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from icesql.io.storage.file_systems import load_file_io
from icesql.table.removal import Claim, RemovalGate, own_claims


@dataclass
class Around:
    """A catalog with a warehouse and other tables."""

    root: str = "/wh"
    extra: tuple[str, ...] = ()
    tables: list[Claim] = field(default_factory=list)
    properties_of_others: list[Claim] = field(default_factory=list)
    files: tuple[str, ...] = ("/wh/catalog.db",)

    def warehouse(self) -> str:
        return self.root

    def own_folder(self) -> None:
        return None

    def allowed(self) -> Sequence[str]:
        return (self.root, *self.extra)

    def catalog_files(self) -> Sequence[str]:
        return self.files

    def others(self, *, exact: bool) -> Iterable[Claim]:
        return self.tables + (self.properties_of_others if exact else [])


def gate(around: Around | None = None, location: str = "/wh/db/t", **properties: str) -> RemovalGate:
    named = {key.replace("_", "."): value for key, value in properties.items()}
    return RemovalGate(load_file_io(), "c.db.t", own_claims(location, named, "c.db.t"), around or Around())


OTHER = Around(tables=[Claim("/wh/db/u", "db.u")])


@pytest.mark.parametrize(
    "location",
    ["/wh/db/t/data/f.parquet", "file:/wh/db/t/data/f.parquet", "file:///wh/db/t//data/./f.parquet", "/wh/db/u/../t/data/f.parquet"],
)
def test_own_files_go_however_they_are_spelled(location: str) -> None:
    assert gate(OTHER).why_not(location) is None


@pytest.mark.parametrize(
    "location",
    [
        "",
        ".",
        "..",
        "f.parquet",
        "/",
        "/wh/db/t",
        "/wh/db/t/",
        "/wh/db/t/../u/data/f",
        "/wh/db/t/data/../../u/data/f",
        "file:///wh/db/u/data/f",
        "/wh/db/tt/f",
        "/wh/DB/t/f",
        "file://host/wh/db/t/f",
        "s3://wh/db/t/f",
        "/wh/db/t/f\0",
        "/etc/passwd",
    ],
)
def test_what_is_not_below_the_location_stays(location: str) -> None:
    assert gate(OTHER).why_not(location) is not None


@pytest.mark.parametrize(
    "location", ["/", "//", "", "file:///", "file:/", ".", "..", "/wh", "/wh/", "/wh/db/..", "/data", "s3://bucket", "s3://"]
)
def test_a_location_that_is_too_wide_gives_no_right_to_anything(location: str) -> None:
    for path in ("/wh/db/u/data/f", "/wh/x", "/data/f", "/etc/passwd", "s3://bucket/f", "f"):
        assert gate(OTHER, location).why_not(path) is not None
        assert gate(OTHER, "/wh/db/t", write_data_path=location or "/").why_not(path) is not None
        assert gate(OTHER, "/wh/db/t", write_metadata_path=location or "/").why_not_old_metadata(path) is not None


@pytest.mark.parametrize("key", ["write_data_path", "write_metadata_path", "write_object-storage_path", "write_folder-storage_path"])
@pytest.mark.parametrize("folder", ["/wh/db/u", "/wh/db/u/data", "file:/wh/db/./u/data/p=1", "/wh/db/t/../u", "/wh/db"])
def test_another_tables_folder_stays_whatever_the_properties_say(key: str, folder: str) -> None:
    reason = gate(OTHER, **{key: folder}).why_not("/wh/db/u/data/p=1/f")
    assert reason is not None
    assert reason in ("it lies in a folder of table db.u", "it lies outside the table's location")


def test_a_table_inside_and_a_table_around() -> None:
    inside = Around(tables=[Claim("/wh/db/t/sub", "db.t.sub")])
    assert gate(inside).why_not("/wh/db/t/data/f") is None
    assert gate(inside).why_not("/wh/db/t/sub/data/f") == "it lies in a folder of table db.t.sub"
    around = Around(tables=[Claim("/wh/db", "db")])
    assert gate(around).why_not("/wh/db/t/data/f") == "it lies in a folder of table db"


def test_percent_encoding_cannot_lead_into_another_table() -> None:
    """Our own stores never decode; another program that does must not be misled by what we leave or take."""
    assert gate(OTHER).why_not("/wh/db/t/%2e%2e/u/f") == "it lies in a folder of table db.u"
    assert gate(OTHER).why_not("/wh/db/t/p=a%2Fb/f") is None
    encoded = Around(tables=[Claim("/wh/db/%74/x", "db.x")])
    assert gate(encoded).why_not("/wh/db/t/x/f") == "it lies in a folder of table db.x"


def test_outside_of_the_warehouse() -> None:
    own = gate(location="/lake/mine/t")
    assert own.why_not("/lake/mine/t/data/f") is None  # CREATE ... LOCATION
    assert own.why_not("/lake/mine/u/data/f") is not None
    apart = gate(write_data_path="/lake/files/t")
    assert "removal.allowed-locations" in str(apart.why_not("/lake/files/t/f"))
    assert gate(Around(extra=("/lake/files",)), write_data_path="/lake/files/t").why_not("/lake/files/t/f") is None
    assert gate(Around(extra=("/lake/files/t",)), write_data_path="/lake/files/t").why_not("/lake/files/t/f") is None
    assert gate(location="/lake/mine/t", write_data_path="/lake/mine/t/files").why_not("/lake/mine/t/files/f") is None
    home = str(Path.home())
    assert gate(location=home).why_not(f"{home}/data/f") is not None


def test_the_catalogs_own_files_stay() -> None:
    around = Around(root="/wh/tables", files=("/wh/db/t/catalog.db",))
    assert gate(around).why_not("/wh/db/t/./catalog.db") == "it is a file of the catalog"


def test_stores_are_compared_by_bucket_and_scheme() -> None:
    around = Around(root="s3://Lake/wh", tables=[Claim("s3n://lake/wh/db/u", "db.u")])
    own = gate(around, "s3a://lake/wh/db/t", write_data_path="s3://LAKE/wh/db/u/data")
    assert own.why_not("s3://lake/wh/db/t/data/f") is None
    assert own.why_not("s3://lake/wh/db/u/data/f") == "it lies in a folder of table db.u"
    assert own.why_not("s3://other/wh/db/t/data/f") is not None
    assert own.why_not("s3://lake/wh/db/t/../u/data/f") is not None
    assert own.why_not("s3://lake/wh/db/x/../t/data/f") is not None


def test_tables_that_share_a_data_folder_are_told_apart_by_their_own_part_of_it() -> None:
    properties = {"write.object-storage.enabled": "true", "write.data.path": "/wh/files"}
    others = [Claim("/wh/db/u", "db.u")]
    around = Around(tables=others, properties_of_others=own_claims("/wh/db/u", properties, "db.u"))
    own = RemovalGate(load_file_io(), "t", own_claims("/wh/db/t", properties, "t"), around)
    assert own.why_not("/wh/files/0101/1100/db/t/f") is None
    assert own.why_not("/wh/files/0101/1100/db/u/f") is not None
    plain = {"write.data.path": "/wh/files"}
    shared = Around(properties_of_others=own_claims("/wh/db/u", plain, "db.u"))
    own = RemovalGate(load_file_io(), "t", own_claims("/wh/db/t", plain, "t"), shared)
    assert own.why_not("/wh/files/f") == "it lies in a folder of table db.u"


def test_links_do_not_lead_out(tmp_path: Path) -> None:
    for name in ("t/data", "u/data"):
        (tmp_path / "wh" / name).mkdir(parents=True)
    (tmp_path / "wh/u/data/f").touch()
    (tmp_path / "wh/t/data/p").symlink_to(tmp_path / "wh/u/data")
    (tmp_path / "alias").symlink_to(tmp_path / "wh/u")
    around = Around(root=f"{tmp_path}/wh", tables=[Claim(f"{tmp_path}/wh/u", "u")])
    assert gate(around, f"{tmp_path}/wh/t").why_not(f"{tmp_path}/wh/t/data/p/f") is not None
    assert gate(around, f"{tmp_path}/alias").why_not(f"{tmp_path}/alias/data/f") == "it lies in a folder of table u"
    aliased = Around(root=f"{tmp_path}/wh", tables=[Claim(f"{tmp_path}/alias", "u")])
    assert gate(aliased, f"{tmp_path}/wh/u").why_not(f"{tmp_path}/wh/u/data/f") == "it lies in a folder of table u"


@pytest.mark.parametrize(
    "entry",
    [
        "/wh/db/t/data/f.parquet",
        "/wh/db/t/metadata/snap-1.avro",
        "/wh/db/t/metadata/deep/00000-x.metadata.json",
        "/wh/db/t/00000-x.metadata.json",
        "/wh/db/u/metadata/00000-x.metadata.json",
        "/wh/db/t/metadata/../../u/metadata/00000-x.metadata.json",
    ],
)
def test_the_metadata_log_names_metadata_files_only(entry: str) -> None:
    assert gate(OTHER).why_not_old_metadata(entry) is not None


def test_old_metadata_goes() -> None:
    assert gate(OTHER).why_not_old_metadata("/wh/db/t/metadata/00000-x.metadata.json") is None
    assert gate(OTHER).why_not_old_metadata("/wh/db/t/metadata/v1.gz.metadata.json") is None
    moved = gate(OTHER, write_metadata_path="/wh/logs/t")
    assert moved.why_not_old_metadata("/wh/db/t/metadata/00000-x.metadata.json") is None
    assert moved.why_not_old_metadata("/wh/logs/t/00000-x.metadata.json.gz") is None


def test_refusals_are_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    own, other = tmp_path / "t/data/f", tmp_path / "u/f"
    for file in (own, other):
        file.parent.mkdir(parents=True)
        file.touch()
    found = gate(Around(root=str(tmp_path)), f"{tmp_path}/t")
    assert found.remove([str(own), str(other)]) == [(str(other), "it lies outside the table's location")]
    assert not own.exists()
    assert other.exists()
    assert f"Cannot remove 1 files of table c.db.t, which stay, for example {other}: it lies outside" in caplog.text


def test_nothing_goes_while_the_catalog_does_not_answer(tmp_path: Path) -> None:
    class Lost(Around):
        def others(self, *, exact: bool) -> Iterable[Claim]:
            raise OSError("no answer")

    file = tmp_path / "t/f"
    file.parent.mkdir()
    file.touch()
    ((_, reason),) = gate(Lost(root=str(tmp_path)), f"{tmp_path}/t").remove([str(file)])
    assert "no answer" in reason
    assert file.exists()


def test_a_table_that_claims_everything_keeps_nothing_from_others() -> None:
    for claim in ("/", "/wh", "file:///"):
        assert gate(Around(tables=[Claim(claim, "greedy")])).why_not("/wh/db/t/data/f") is None
