"""Nessie over an S3 server, one of each for the run. The tests are collected where ``./dev test-stores`` runs them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from icesql.catalog.base import Catalog
from icesql.catalog.names import identifier_of, namespace_of
from icesql.catalog.rest.catalog import RestCatalog
from tests.nessie.nessie_server import NessieServer, start_nessie
from tests.stores.s3_server import S3Server, s3_server

collect_ignore_glob = [] if os.environ.get("ICESQL_ALL_STORE_CASES") else ["test_*.py"]
_numbers = itertools.count()


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture(scope="session")
def nessie(s3: S3Server) -> Iterator[NessieServer]:
    s3.new_bucket("lake")
    server = start_nessie(s3, "lake")
    yield server
    server.stop()


def properties(nessie: NessieServer, s3: S3Server, delegation: str) -> dict[str, str]:
    """``signing``: the server signs each request. ``keys``: requests are signed here."""
    if delegation == "signing":
        return nessie.properties(**{"header.X-Iceberg-Access-Delegation": "remote-signing"})
    return nessie.properties(**{key: value for key, value in s3.properties().items() if key not in ("s3.endpoint", "s3.path-style-access")})


def emptied(catalog: Catalog) -> Catalog:
    """Every name gone; files stay, under names that no other test takes."""
    for namespace in sorted(catalog.list_namespaces(), key=len, reverse=True):
        _drop(catalog, namespace)
    return catalog


def _drop(catalog: Catalog, namespace: tuple[str, ...]) -> None:
    for child in catalog.list_namespaces(namespace):
        _drop(catalog, child)
    for table in catalog.list_tables(namespace):
        catalog.drop_table(table)
    for view in catalog.list_views(namespace) if catalog.supports_views else ():
        catalog.drop_view(view)
    catalog.drop_namespace(namespace)


class ImplyingCatalog(RestCatalog):
    """Makes the namespace of a new table, as the other catalogs of the suite do by nature: Nessie wants it made first."""

    def _stage(self, names: Any, *arguments: Any, **options: Any) -> Any:
        self._imply(names[:-1])
        return super()._stage(names, *arguments, **options)

    def rename_table(self, source: Any, target: Any) -> None:
        if self.table_exists(source):
            self._imply(identifier_of(target)[:-1])
        super().rename_table(source, target)

    def register_table(self, identifier: Any, metadata_location: str) -> Any:
        self._imply(identifier_of(identifier)[:-1])
        return super().register_table(identifier, metadata_location)

    def create_namespace(self, namespace: Any, properties: Any = None) -> None:
        levels = namespace_of(namespace)
        self._imply(levels[:-1])
        super().create_namespace(levels, properties)

    def _imply(self, levels: tuple[str, ...]) -> None:
        for depth in range(1, len(levels) + 1):
            if not self.namespace_exists(levels[:depth]):
                super().create_namespace(levels[:depth])


@pytest.fixture(params=["keys", "signing"])
def any_catalog(request: pytest.FixtureRequest, nessie: NessieServer, s3: S3Server) -> Iterator[Any]:
    opened = ImplyingCatalog("test", properties(nessie, s3, request.param))
    yield emptied(opened)
    opened.close()


@pytest.fixture
def any_metastore(any_catalog: Catalog) -> Catalog:
    return any_catalog


@pytest.fixture
def bucket_folder(s3: S3Server) -> Path:
    """Where the objects of the warehouse lie."""
    return s3.folder / "data" / "lake" / "nessie"
