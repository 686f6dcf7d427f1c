"""The server through which the JVM calls Python: who connects must know the gateway's own secret, and connections end with their threads.

Py4J can ask for a token, but PySpark starts the server without one, and then any user of the machine may call whatever the driver has
handed to the JVM. The JVM's client was made with the secret; it loses it when PySpark tells it the server's port, because
``py4j.PythonClient.copyWith`` leaves it out, so it is put back.

That client also keeps every connection that it has made, one for each thread of the JVM that ever called Python, and Spark runs each
broadcast and subquery in a new thread. Here it keeps them in a collection that is emptied after each statement; a thread then finds its
connection through its own weak reference, and Java's collector closes those of threads that are no more.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
from contextlib import suppress
from typing import Any

from py4j.clientserver import ClientServer
from py4j.java_gateway import JavaObject
from pyspark import java_gateway

_lock = threading.Lock()
_KEPT = "_icesql_connections"
_NEXT, _SECONDS_BETWEEN = "_icesql_connections_next", 1.0
_SECRET = "_icesql_callback_secret"
_MANY = 128  # open connections at which the collector is called: the most threads that Spark has for broadcasts


def accept_callbacks(gateway: Any) -> None:
    """Let the JVM call Python, and nobody else. A server that runs without a token (structured streaming starts one) goes on, and asks for
    one from now on; what the JVM holds of Python's objects stays valid."""
    with _lock:
        running = gateway.__dict__.get("_callback_server")
        if running is None:
            gateway.callback_server_parameters.auth_token = _secret(gateway)
            java_gateway.ensure_callback_server_started(gateway)
            _prepare_client(gateway)
        elif running.callback_server_parameters.auth_token is None:
            with running.lock:  # connections are accepted, but not served, until both sides know the token
                made_before = _prepare_client(gateway)
                running.callback_server_parameters.auth_token = _secret(gateway)
                _cut_off_others(running, made_before)


def forget_connections(gateway: Any) -> None:
    """Let go of connections whose threads have ended, at most once a second. Nothing happens to those in use."""
    kept = gateway.__dict__.get(_KEPT)
    if kept is None or time.monotonic() < gateway.__dict__.get(_NEXT, 0.0):
        return
    gateway.__dict__[_NEXT] = time.monotonic() + _SECONDS_BETWEEN
    kept.clear()
    if len(gateway._callback_server.connections) > _MANY:
        gateway.jvm.java.lang.System.gc()


def _cut_off_others(server: Any, made_by_the_jvm: Any) -> None:
    """End the connections that the JVM's client has not made: they came while no token was asked for.

    A thread of the JVM that connects at this moment may not be in the client's collection yet, so that one is asked twice. With
    ``PYSPARK_PIN_THREAD=false`` the collection lacks connections in use: a micro-batch that runs at this moment fails.
    """
    for pause in (0.1, 0.0):
        ours = {_field(made.getClass(), "socket").get(made).getLocalPort() for made in made_by_the_jvm.toArray()}
        others = [connection for connection in list(server.connections) if _peer_port(connection) not in ours]
        if not others:
            return
        time.sleep(pause)
    for connection in others:
        with suppress(OSError, AttributeError):  # it has ended
            connection.socket.shutdown(socket.SHUT_RDWR)


def _peer_port(connection: Any) -> int | None:
    """Null for a connection that has ended."""
    try:
        port: int = connection.socket.getpeername()[1]
    except (OSError, AttributeError):
        return None
    return port


def _secret(gateway: Any) -> str:
    """The one that Python proves itself to the JVM with; a new one for a gateway that has none."""
    known: str | None = gateway.gateway_parameters.auth_token
    return gateway.__dict__.setdefault(_SECRET, secrets.token_hex(32)) if known is None else known


def _prepare_client(gateway: Any) -> Any:
    """Give the JVM's client the token, and a collection of connections that may be emptied while others use it. Returns the one that it
    had."""
    client = JavaObject("GATEWAY_SERVER", gateway._gateway_client).getCallbackClient()
    fields = gateway.jvm.java.lang.Class.forName("py4j.CallbackClient")
    made_before = _field(fields, "connections").get(client)
    if isinstance(gateway, ClientServer):  # without a connection for each thread, Py4J closes idle ones itself
        connections = gateway.jvm.java.util.concurrent.ConcurrentLinkedDeque()
        _field(fields, "connections").set(client, connections)
        gateway.__dict__[_KEPT] = connections
    _field(fields, "authToken").set(client, _secret(gateway))
    return made_before


def _field(class_: Any, name: str) -> Any:
    field = class_.getDeclaredField(name)
    field.setAccessible(True)
    return field
