"""What a server process counts, in Prometheus' form."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Measures:
    """What one server process counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter("icesql_requests", "Requests answered", ["route", "status"], registry=self.registry)
        self._seconds = Histogram("icesql_request_seconds", "Time to an answer", ["route"], registry=self.registry, buckets=_SECONDS)
        self._groups = Histogram(
            "icesql_commit_group_size", "Requests committed together", ["catalog"], registry=self.registry, buckets=_REQUESTS
        )
        self._snapshots = Counter("icesql_snapshots_produced", "Snapshots built from files", ["catalog"], registry=self.registry)

    def request(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def group(self, catalog: str, size: int) -> None:
        self._groups.labels(catalog).observe(size)

    def snapshots(self, catalog: str, count: int) -> None:
        self._snapshots.labels(catalog).inc(count)
