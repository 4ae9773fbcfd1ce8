"""What a user says about a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..._errors import ParameterError
from ...data.checks import check_number

#: What `client=` may be, for sentences.
CLIENT = "a dask.distributed.Client or linrank.engines.Dask(client)"


@dataclass(frozen=True)
class Dask:
    """A Dask cluster to train on, as `client=` of LinearRanker.fit takes it.

    Parameters
    ----------
    client : dask.distributed.Client
        Of the cluster.
    patience : float, default=60
        Seconds without a worker, or without a sign of life of one that is needed, after which a fit ends with a
        ClusterError. A scheduler that is gone is told at once.
    shard_bytes : int, default=8 MB
        Partitions of fewer bytes (or of less than 1/32 of all) are joined; a query of more, that lies in several
        partitions and is larger than two of them, stays where it is: its scores travel instead.
    """

    client: Any
    patience: float = 60.0
    shard_bytes: int = 8 << 20

    def __post_init__(self) -> None:
        check_number("patience", self.patience, above=0.0)
        check_number("shard_bytes", self.shard_bytes, above=-1.0)
        if not hasattr(self.client, "scheduler_info"):
            raise ParameterError(f"client={self.client!r} is no client of a cluster: give {CLIENT}.")
        if getattr(self.client, "asynchronous", False):
            raise ParameterError("The client is asynchronous, and fit waits for its answers: give Client(address).")

    @classmethod
    def of(cls, client: Any) -> Dask:
        """A client with the defaults, or what was said."""
        return client if isinstance(client, Dask) else cls(client)
