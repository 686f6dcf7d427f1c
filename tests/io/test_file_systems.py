"""Local files, and other stores through fsspec's memory file system."""

import pickle
import threading

import pytest

from icesql.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError, UnsupportedError
from icesql.io.storage.file_systems import ArrowFileIO, load_file_io, local_path, scheme_of

IO = ArrowFileIO()


def test_locations():
    assert [local_path(p) for p in ("/a b/c%20d", "file:/a%20b", "file:///x/y#z", "file://localhost/x")] == [
        "/a b/c%20d",
        "/a%20b",
        "/x/y#z",
        "/x",
    ]
    assert [scheme_of(p) for p in ("/a:b", "S3://b/k", "file:/a")] == ["file", "s3", "file"]
    for bad in ("relative/path", "", "file://host/x", "file:x"):
        with pytest.raises(InvalidArgumentError):
            local_path(bad)
    with pytest.raises(InvalidArgumentError):
        load_file_io({}, "relative")


@pytest.fixture(params=["local", "uri", "memory"])
def root(request, tmp_path):
    import uuid

    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}/w"
    return str(tmp_path / "w") if request.param == "local" else f"file://{tmp_path}/w"


def test_behaviour_of_every_store(root):
    location = f"{root}/a b/é%20=1/f"
    assert not IO.exists(location)
    IO.write(location, b"one")
    IO.write(location, b"two!")
    assert (IO.read(location), IO.size(location), IO.exists(location)) == (b"two!", 4, True)
    with pytest.raises(AlreadyExistsError):
        IO.write(location, b"x", overwrite=False)
    IO.write(f"{root}/new", b"n", overwrite=False)
    with IO.open_output(f"{root}/z/stream") as out:
        out.write(b"stream")
    with IO.open_input(f"{root}/z/stream") as stream:
        stream.seek(2)
        assert stream.read(3) == b"rea"
    listed = sorted((i.location, i.size_in_bytes) for i in IO.list_files(root))
    assert listed == sorted([(location, 4), (f"{root}/new", 1), (f"{root}/z/stream", 6)])
    assert all(i.modified_ms > 1_500_000_000_000 for i in IO.list_files(root)) or root.startswith("memory")
    assert IO.list_folders(root) == ["a b", "z"]
    assert IO.delete_many([location, f"{root}/none"]) == []
    IO.delete(location)
    for missing in (IO.read, IO.size, IO.open_input):
        with pytest.raises(NotFoundError):
            missing(location)
    IO.delete_folder(root)
    IO.delete_folder(root)
    assert list(IO.list_files(root)) == []
    assert IO.list_folders(root) == []


def test_delete_many_reports_what_stays(tmp_path):
    (tmp_path / "folder").mkdir()
    ((failed, reason),) = IO.delete_many([str(tmp_path / "folder"), str(tmp_path / "gone")])
    assert failed == str(tmp_path / "folder")
    assert reason


def test_rename_without_overwrite(tmp_path):
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    with pytest.raises(AlreadyExistsError):
        IO.rename_without_overwrite(str(tmp_path / "a"), str(tmp_path / "b"))
    IO.rename_without_overwrite(str(tmp_path / "a"), f"file:{tmp_path}/sub/c")
    assert (IO.exists(str(tmp_path / "a")), IO.read(str(tmp_path / "sub/c"))) == (False, b"a")
    with pytest.raises(NotFoundError):
        IO.rename_without_overwrite(str(tmp_path / "a"), str(tmp_path / "d"))
    with pytest.raises(UnsupportedError):
        IO.rename_without_overwrite("memory://m/a", "memory://m/b")


def test_one_of_many_creators_wins(tmp_path):
    wins, start = [], threading.Barrier(8)

    def create(number):
        start.wait()
        try:
            IO.write(str(tmp_path / "v1"), str(number).encode() * 1000, overwrite=False)
            wins.append(number)
        except AlreadyExistsError:
            pass

    threads = [threading.Thread(target=create, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    assert IO.read(str(tmp_path / "v1")) == str(wins[0]).encode() * 1000
    assert [p.name for p in tmp_path.iterdir()] == ["v1"]  # no temporary file stays


def test_unknown_scheme_and_pickling():
    with pytest.raises(UnsupportedError, match="nope"):
        IO.read("nope://x/y")
    IO.exists("memory://m/x")
    assert pickle.loads(pickle.dumps(IO)).exists("memory://m/x") is False
