"""What tasks import in Python workers. No Spark session is needed."""

from __future__ import annotations

import os
import py_compile
import sys
import zipfile
from importlib import import_module
from zipimport import zipimporter

import pytest

from icesql.spark.workers import shipping
from icesql.spark.workers.task_imports import archives_forgotten


@pytest.fixture
def module(tmp_path):
    """A module's file, with what the interpreter keeps of it."""
    file = tmp_path / "shipped_by_a_test.py"
    file.write_text("ANSWER = 42\n")
    py_compile.compile(str(file), cfile=shipping.cache_from_source(str(file)))
    return file


def test_the_zip_has_what_was_compiled(tmp_path, module, monkeypatch):
    compiled = shipping._compiled(module, module.read_bytes())
    with zipfile.ZipFile(tmp_path / "modules.zip", "w") as archive:
        archive.writestr("shipped_by_a_test.pyc", compiled)
    monkeypatch.syspath_prepend(str(tmp_path / "modules.zip"))
    loaded = import_module("shipped_by_a_test")
    assert loaded.ANSWER == 42
    assert str(loaded.__file__).endswith(".pyc")
    del sys.modules["shipped_by_a_test"]


def test_what_was_compiled_of_another_source_is_left_out(module):
    module.write_text("ANSWER = 43 + 1\n")
    assert shipping._compiled(module, module.read_bytes()) is None
    os.unlink(shipping.cache_from_source(str(module)))
    assert shipping._compiled(module, module.read_bytes()) is None


def test_all_rooms_that_tasks_import_are_shipped():
    names = zipfile.ZipFile(shipping._zip()).namelist()
    assert {
        "icesql/spark/write/write_tasks.py",
        "icesql/spark/read/fallback_tasks.py",
        "icesql/table/manifests/location_provider.py",
        "icesql/catalog/loading.py",  # for the planners of streams
    } <= set(names)
    assert not any(name.startswith("icesql/session") for name in names)


def test_archives_are_forgotten_after_a_task(tmp_path, monkeypatch):
    path = str(tmp_path / "modules.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("shipped_by_a_test.py", "ANSWER = 42\n")
    monkeypatch.syspath_prepend(path)
    with archives_forgotten():
        import_module("shipped_by_a_test")
        assert isinstance(sys.path_importer_cache[path], zipimporter)
    assert path not in sys.path_importer_cache
    del sys.modules["shipped_by_a_test"]
    assert import_module("shipped_by_a_test").ANSWER == 42
    del sys.modules["shipped_by_a_test"]
