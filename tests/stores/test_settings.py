"""Iceberg's keys, as settings of a client."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import pytest

from icesql.errors import InvalidArgumentError, UnsupportedError
from icesql.io.storage.file_systems import ArrowFileIO, require_file_system
from icesql.io.stores import clients, known_keys
from icesql.io.stores.failures import StoreDeniedError
from icesql.io.stores.object_files import ObjectFileIO, settings_of
from tests.stores.s3_server import free_port

KEYS = {"s3.access-key-id": "a", "s3.secret-access-key": "b", "s3.region": "eu-west-1"}


@pytest.fixture(autouse=True)
def no_own_cloud(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What this machine's user has configured says nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.delenv(name, raising=False)


def s3(**more: str) -> dict[str, object]:
    return dict(settings_of("s3", "lake", {**KEYS, **{key.replace("__", "."): value for key, value in more.items()}}).config)


def test_keys_and_address() -> None:
    assert s3() == {"access_key_id": "a", "secret_access_key": "b", "region": "eu-west-1", "virtual_hosted_style_request": True}
    given = settings_of("s3a", "lake", {**KEYS, "s3.endpoint": "http://h:7070", "s3.session-token": "t"})
    config = dict(given.config)
    assert (config["endpoint"], config["virtual_hosted_style_request"], config["session_token"]) == ("http://h:7070", False, "t")
    assert dict(given.client)["allow_http"] is True
    hosted = settings_of("s3", "lake", {**KEYS, "s3.endpoint": "https://h", "s3.path-style-access": "false"})
    assert dict(hosted.config)["endpoint"] == "https://lake.h"
    assert "allow_http" not in dict(hosted.client)
    assert dict(settings_of("s3", "a.b", KEYS).config)["virtual_hosted_style_request"] is False  # no certificate is for a name with a dot


@pytest.mark.parametrize(
    ("properties", "config"),
    [
        ({"s3.sse.type": "s3"}, {"server_side_encryption": "AES256"}),
        ({"s3.sse.type": "kms", "s3.sse.key": "k"}, {"server_side_encryption": "aws:kms", "sse_kms_key_id": "k"}),
        ({"s3.sse.type": "dsse-kms"}, {"server_side_encryption": "aws:kms:dsse"}),
        ({"s3.sse.type": "custom", "s3.sse.key": "k"}, {"server_side_encryption": "sse-c", "sse_customer_key_base64": "k"}),
        ({"s3.sse.type": "none"}, {}),
        ({"s3.checksum-enabled": "true"}, {"checksum_algorithm": "SHA256"}),
    ],
)
def test_encryption_and_checksums(properties: dict[str, str], config: dict[str, str]) -> None:
    made = dict(settings_of("s3", "lake", {**KEYS, **properties}).config)
    plain = dict(settings_of("s3", "lake", KEYS).config)
    assert {key: value for key, value in made.items() if key not in plain} == config


def test_writes() -> None:
    given = settings_of(
        "s3",
        "lake",
        {**KEYS, "s3.write.tags.team": "x", "s3.write.storage-class": "STANDARD_IA", "s3.multipart.part-size-bytes": "6000000"},
    )
    assert (given.tags, given.storage_class, given.part_bytes) == ((("team", "x"),), "STANDARD_IA", 6_000_000)
    refused = settings_of("s3", "lake", {**KEYS, "s3.acl": "public-read"})
    assert refused.refused_writes == "s3.acl=public-read cannot be set on objects here; remove s3.acl"


@pytest.mark.parametrize(
    ("properties", "words"),
    [
        ({"s3.access-key-id": "a"}, "s3.access-key-id and s3.secret-access-key go together; set s3.secret-access-key"),
        ({**KEYS, "s3.path-style-access": "yes"}, "s3.path-style-access must be true or false: yes"),
        ({**KEYS, "s3.multipart.part-size-bytes": "1"}, "s3.multipart.part-size-bytes must be at least 5242880: 1"),
        ({**KEYS, "s3.retry.num-retries": "many"}, "s3.retry.num-retries is not a whole number: many"),
        ({**KEYS, "s3.sse.type": "rot13"}, "unknown s3.sse.type: rot13"),
        ({**KEYS, "s3.endpoint": "ftp://h"}, "s3.endpoint must be a URL: ftp://h"),
        ({"client.profile-name": "none"}, "there is no AWS profile none"),
    ],
)
def test_values_that_cannot_be(properties: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        settings_of("s3", "lake", properties)


def test_what_is_not_served() -> None:
    with pytest.raises(UnsupportedError, match="needs a catalog of type rest"):
        settings_of("s3", "lake", {"s3.remote-signing-enabled": "true"})
    with pytest.raises(UnsupportedError, match=r"unknown client.credentials-provider: com.example.Own"):
        settings_of("s3", "lake", {"client.credentials-provider": "com.example.Own"})
    with pytest.raises(UnsupportedError, match=r"gcp\.impersonate\.service-account is not supported"):
        settings_of("gs", "lake", {"gcp.impersonate.service-account": "x"})


def test_where_keys_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def source(**properties: str) -> str:
        given = {key.replace("__", "."): value for key, value in properties.items()}
        return settings_of("s3", "lake", {"s3.region": "r", **given}).credentials

    assert source() == "environment"
    assert settings_of("s3", "lake", {"s3.region": "r", "s3.anonymous": "true"}).credentials == "anonymous"
    provider = "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider"
    assert settings_of("s3", "lake", {"s3.region": "r", "client.credentials-provider": provider}).credentials == "anonymous"
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(
        "[default]\naws_access_key_id=d\naws_secret_access_key=e\n[w]\naws_access_key_id=f\naws_secret_access_key=g\n"
    )
    (tmp_path / ".aws" / "config").write_text("[profile w]\nregion = eu-north-1\n[profile sso]\nsso_session = x\n")
    chosen = settings_of("s3", "lake", {"client.profile-name": "w"})
    assert chosen.credentials == "profile w"
    assert (dict(chosen.config)["access_key_id"], dict(chosen.config)["region"]) == ("f", "eu-north-1")
    assert dict(settings_of("s3", "lake", {"s3.region": "r"}).config)["access_key_id"] == "d"
    assert settings_of("s3", "lake", {"s3.region": "r", "client.profile-name": "sso"}).credentials == "profile sso"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    assert source() == "environment"
    role = settings_of(
        "s3", "lake", {"s3.region": "r", "client.assume-role.arn": "arn:aws:iam::1:role/x", "client.assume-role.external-id": "e"}
    )
    assert dict(role.role)["external-id"] == "e"


def test_gcs() -> None:
    given = settings_of("gs", "lake", {"gcs.oauth2.token": "t", "gcs.service.host": "http://h:4443"})
    assert dict(given.config) == {"base_url": "http://h:4443", "bearer_token": "t"}
    assert settings_of("gs", "lake", {"gcs.no-auth": "true"}).credentials == "anonymous"
    with pytest.raises(InvalidArgumentError, match="exclude each other"):
        settings_of("gs", "lake", {"gcs.no-auth": "true", "gcs.oauth2.token": "t"})


def test_azure() -> None:
    place = "lake@acme.dfs.core.windows.net"
    shared = {"adls.auth.shared-key.account.name": "acme", "adls.auth.shared-key.account.key": "k"}
    given = settings_of("abfss", place, shared)
    assert (given.container, dict(given.config)) == ("lake", {"account_key": "k", "account_name": "acme"})
    sas = settings_of("abfss", place, {"adls.sas-token.acme.dfs.core.windows.net": "?sv=1", **shared})
    assert dict(sas.config)["sas_key"] == "sv=1"
    text = "DefaultEndpointsProtocol=http;AccountName=acme;AccountKey=a2V5==;BlobEndpoint=http://127.0.0.1:1/acme;"
    emulated = settings_of("abfs", place, {"adls.connection-string.acme": text})
    assert dict(emulated.config) == {"account_name": "acme", "account_key": "a2V5==", "endpoint": "http://127.0.0.1:1/acme"}
    assert (
        dict(settings_of("abfss", "lake@acme.dfs.core.chinacloudapi.cn", shared).config)["endpoint"]
        == "https://acme.blob.core.chinacloudapi.cn"
    )
    with pytest.raises(InvalidArgumentError, match="names a container and an account"):
        settings_of("abfss", "lake", {})


def test_unknown_keys_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_keys, "_told", set())
    properties = {**KEYS, "s3.acess-key-id": "typo", "s3.cross-region-access-enabled": "true", "s3.crt.enabled": "false", "other.key": "1"}
    with pytest.warns(UserWarning, match="no effect here: s3.acess-key-id, s3.cross-region-access-enabled$"):
        ObjectFileIO(properties)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ObjectFileIO(properties)


def test_no_credentials_anywhere_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(clients._INSTANCE, "s3", ("127.0.0.1", free_port()))  # no cloud around this machine
    begun = time.monotonic()
    with pytest.raises(StoreDeniedError, match=r"no credentials for lake.*set s3\.access-key-id"):
        ObjectFileIO({"s3.endpoint": "http://127.0.0.1:1"}).read("s3://lake/x")
    assert time.monotonic() - begun < 10


def test_secrets_are_not_shown() -> None:
    given = settings_of("s3", "lake", {"s3.access-key-id": "AKIA", "s3.secret-access-key": "hush", "s3.region": "r"})
    assert "hush" not in repr(given)


def test_a_scheme_that_nothing_serves() -> None:
    with pytest.raises(UnsupportedError, match="no file system for scheme: warp"):
        require_file_system(ArrowFileIO(), "warp://lake/t")
    require_file_system(ArrowFileIO(), "s3://lake/t")
    require_file_system(ArrowFileIO(), "memory://lake/t")
    require_file_system(ArrowFileIO(), "/lake/t")
