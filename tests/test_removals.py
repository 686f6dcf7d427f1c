"""Every place that removes files: through the gate, or one of those below, each with the reason why it needs none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
OF_STORES = {"delete", "remove", "delete_file", "delete_dir"}  # names that other objects have too
REMOVERS = {"delete_many", "delete_folder", "delete_if", "move_folder", "unlink", "rmtree", "removedirs", "rmdir"}
WORDS = re.compile("|".join(OF_STORES | REMOVERS))
STORE = re.compile(r"(?:^|[._])io$|_for\(|^(?:os|system|fs)$")

A_STORE = "a store's own code: it removes what it is told to"
JUST_WRITTEN = "a file that this operation wrote under a random name, and that no table refers to"
GATED = "through the gate"
ALLOWED = {
    "io/storage/locations.py: delete_each": A_STORE,
    "io/storage/local_files.py": A_STORE,
    "io/storage/new_names.py": A_STORE,
    "io/storage/durable.py": A_STORE,
    "io/storage/store_files.py": A_STORE,
    "io/storage/synced_together.py": A_STORE,
    "io/storage/file_systems.py: ArrowFileIO": A_STORE,
    "io/storage/routed_files.py": A_STORE,
    "io/stores/object_files.py": A_STORE,
    "io/stores/checks.py: _delete": "the object that the check itself wrote under a random name",
    "catalog/rest/vended_io.py: VendedFileIO": A_STORE,
    "table/removal.py: RemovalGate": GATED,
    "table/changes/expire_snapshots.py: ExpireSnapshots.__init__": "handed to the gate, which calls it with what may go",
    "procedures/expire_snapshots.py: _delete_with.delete": "handed to the gate, which calls it with what may go",
    "catalog/drop.py: dropping": "every file has passed the gate before the name went",
    "catalog/hadoop.py: HadoopCatalog._remove": "after check_folder: no link, no other table in it, at the place that the name gives",
    "catalog/hadoop.py: HadoopCatalog.drop_namespace": "a folder that was found empty",
    "procedures/remove_orphan_files.py: _delete": "every file has passed the gate in orphan_files.removable_orphans",
    "catalog/hadoop_operations.py: HadoopTableOperations._discard": JUST_WRITTEN,
    "catalog/hadoop_operations.py: HadoopTableOperations._withdraw": "the version this commit made, if it still holds its bytes",
    "catalog/hadoop_operations.py: HadoopTableOperations._settle": JUST_WRITTEN,
    "catalog/hadoop_operations.py: HadoopTableOperations._delete_old": "in the own metadata folder, if it still is that very version",
    "catalog/metastore.py: MetastoreCatalog.commit_view": JUST_WRITTEN,
    "catalog/table_operations.py: MetastoreTableOperations.discard": JUST_WRITTEN,
    "catalog/table_operations.py: write_new_metadata": JUST_WRITTEN,
    "catalog/loading.py: _temporary_warehouse": "a folder that this process made with mkdtemp",
    "io/data/writer.py: DataFileWriter._opened": JUST_WRITTEN,
    "io/data/writer.py: DataFileWriter.abort": JUST_WRITTEN,
    "table/write/written_files.py: remove_files": JUST_WRITTEN,
    "table/changes/rewrite_manifests.py: RewriteManifests._drop_unused": JUST_WRITTEN,
    "table/snapshot/producer.py: SnapshotProducer.committed": JUST_WRITTEN,
    "table/snapshot/producer.py: SnapshotProducer.abandoned": JUST_WRITTEN,
    "spark/write/write_tasks.py: PartitionedWriter.abort": JUST_WRITTEN,
    "spark/write/data_files.py: remove_files_of": "files with this write's random id in their names",
    "spark/maintenance/rewrite_files.py: remove_files_of": "files with this rewrite's random id in their names",
    "spark/jvm/bridge.py: Bridge.input_stream": "a file that this very function made with mkstemp",
}


def removals(tree: ast.AST, inside: tuple[str, ...] = ()) -> Iterator[str]:
    """Where a remover is named: class and function."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield from removals(node, (*inside, node.name))
            continue
        if isinstance(node, ast.Attribute):
            named = node.attr in REMOVERS or (node.attr in OF_STORES and STORE.search(ast.unparse(node.value)))
            if named:
                yield ".".join(inside)
        yield from removals(node, inside)


@cache
def places() -> set[str]:
    return {
        f"{file.relative_to(folder.parent if folder.name != 'icesql' else folder)}: {place}"
        for folder in (ROOT / "icesql", ROOT / "procedures", ROOT / "parser")
        for file in sorted(folder.rglob("*.py"))
        if WORDS.search(text := file.read_text())
        for place in removals(ast.parse(text))
    }


def covers(allowed: str, place: str) -> bool:
    return place == allowed or place.startswith((f"{allowed}.", f"{allowed}: "))


def is_allowed(place: str) -> bool:
    return any(covers(allowed, place) for allowed in ALLOWED)


def test_no_file_is_removed_but_where_the_list_says() -> None:
    assert {place for place in places() if not is_allowed(place)} == set()


def test_the_list_names_no_place_that_is_gone() -> None:
    held = places()
    assert {allowed for allowed in ALLOWED if not any(covers(allowed, place) for place in held)} == set()


def test_the_search_finds_removals() -> None:
    text = "def f(io):\n    io.delete('x')\nclass A:\n    def g(self):\n        self._io.delete_many([])\n        shutil.rmtree('x')"
    assert sorted(removals(ast.parse(text))) == ["A.g", "A.g", "f"]
