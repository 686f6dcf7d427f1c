"""Profiles of ``~/.aws/credentials`` and ``~/.aws/config``. Keys that stand in a file are read here; for what a profile has made for it
(single sign-on, a role, a program) boto3 is asked."""

from __future__ import annotations

import configparser
import os
from pathlib import Path
from typing import Any

_MADE = ("sso_session", "sso_start_url", "role_arn", "credential_process", "source_profile", "web_identity_token_file")


def profile_of(name: str) -> dict[str, Any] | None:
    """The keys of a profile, empty where boto3 has to make them, ``None`` if there is no such profile, or nothing to sign with in it."""
    values = {**_section("AWS_CONFIG_FILE", "config", _config_name(name)), **_section("AWS_SHARED_CREDENTIALS_FILE", "credentials", name)}
    key, secret = values.get("aws_access_key_id"), values.get("aws_secret_access_key")
    if key and secret:
        return {"access_key_id": key, "secret_access_key": secret, "session_token": values.get("aws_session_token")}
    return {} if any(values.get(made) for made in _MADE) else None


def profile_region(name: str | None) -> str | None:
    chosen = name or os.environ.get("AWS_PROFILE") or "default"
    return _section("AWS_CONFIG_FILE", "config", _config_name(chosen)).get("region")


def _config_name(name: str) -> str:
    return name if name == "default" else f"profile {name}"


def _section(variable: str, file: str, name: str) -> dict[str, str]:
    path = Path(os.environ.get(variable) or Path.home() / ".aws" / file)
    parser = configparser.RawConfigParser()
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, OSError, UnicodeDecodeError):
        return {}
    return dict(parser[name]) if parser.has_section(name) else {}
