"""``docs/openapi/icesql-rest.yaml`` as the judge of what is sent to the server, and of what it answers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "openapi" / "icesql-rest.yaml"


@cache
def document() -> Any:
    return yaml.safe_load(DOCUMENT.read_text())


@cache
def validator(name: str) -> Draft202012Validator:
    """Of one of the document's schemas."""
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": document()["components"]})


def problems(name: str, value: Any) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in validator(name).iter_errors(value)]


def check_commit(updates: list[Any], answer: Any, *, is_minimal: bool) -> None:
    """The answer is one of the document's; a request that was taken is one, too."""
    if answer.status_code != 200:
        assert not problems("IcebergErrorResponse", answer.json()), answer.text
        return
    assert not problems("MinimalCommitResponse" if is_minimal else "CommitTableResponse", answer.json())
    for update in updates:
        if update.get("action") == "produce-snapshot":
            assert not problems("ProduceSnapshotUpdate", update)
