"""Cluster that a job runs on: valid values of `--master` and `--memory`, and our address there."""

import os
import re
import socket
from typing import Final

from storage.pipeline.errors import PipelineError

LOOPBACK: Final = "127.0.0.1"

LOCAL_FORM: Final = re.compile(r"local(\[(\*|[1-9]\d{0,2})\])?")
STANDALONE_FORM: Final = re.compile(r"spark://([\w.-]+:\d+)(,[\w.-]+:\d+)*")
KUBERNETES_FORM: Final = re.compile(r"k8s://(?:(https?)://)?([\w.-]+)(?::(\d+))?")

MEMORY: Final = re.compile(r"(\d{1,6})([mg])", re.IGNORECASE)
MB: Final = 1024 * 1024
MEMORY_MIN_MB: Final = 512
"""Spark keeps 300 MB for itself, and does not start with less than 450 in all."""

ANSWER_WITHIN_S: Final = 5.0
"""Spark itself asks a master that is not there for a minute."""


def check_master(master: str) -> None:
    """Make sure that a job can run there, as far as it can be known before it is tried.

    Raises:
        PipelineError: it is no master that Spark knows.
    """
    forms = (LOCAL_FORM, STANDALONE_FORM, KUBERNETES_FORM)
    if master != "yarn" and not any(form.fullmatch(master) for form in forms):
        raise PipelineError(
            f"--master {master} is none that Spark knows: write local[*], local[2], "
            "spark://HOST:PORT, yarn or k8s://https://HOST:PORT."
        )


def megabytes(memory: str, option: str = "--memory") -> int:
    """Return an amount of memory in MB.

    Raises:
        PipelineError: it is none; `option` named it.
    """
    amount = MEMORY.fullmatch(memory)
    if amount is None:
        raise PipelineError(f"{option} {memory} is no amount: write 512m, or 2g.")
    return int(amount[1]) * (1024 if amount[2].lower() == "g" else 1)


def check_memory(memory: str) -> None:
    """Make sure that an amount of memory is one, is enough, and is there.

    Raises:
        PipelineError: it is not.
    """
    wanted_mb = megabytes(memory)
    there_mb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // MB
    if wanted_mb < MEMORY_MIN_MB:
        raise PipelineError(
            f"--memory {memory} is too little: Spark does not start below {MEMORY_MIN_MB}m."
        )
    if wanted_mb > there_mb:
        raise PipelineError(
            f"--memory {memory} is more than this computer has: name at most {there_mb}m."
        )


def is_local(master: str) -> bool:
    """Return whether a job runs in one process, on this computer."""
    return LOCAL_FORM.fullmatch(master) is not None


def check_reachable(master: str) -> None:
    """Make sure that something answers where the master should be.

    Raises:
        PipelineError: nothing does.
    """
    if master == "yarn":
        if not {"HADOOP_CONF_DIR", "YARN_CONF_DIR"} & os.environ.keys():
            raise PipelineError(
                "--master yarn needs the cluster's settings: point HADOOP_CONF_DIR to them."
            )
        return
    addresses = _addresses(master)
    if addresses and not any(map(_answers, addresses)):
        tried = ", ".join(f"{host}:{port}" for host, port in addresses)
        raise PipelineError(
            f"No Spark master answers at {tried}: is it running, and is the port open?"
        )


def driver_address(master: str) -> str | None:
    """Return the address of ours at which executors reach us; None where Spark must find it.

    The one that leads to the master, so that nothing listens where no executor is. To ask for it
    sends nothing.
    """
    if is_local(master):
        return LOOPBACK
    if chosen := os.environ.get("SPARK_LOCAL_IP"):
        return chosen
    for address in _addresses(master):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
            try:
                asked.connect(address)
            except (OSError, OverflowError):  # no way there, or no such port
                continue
            return str(asked.getsockname()[0])
    return None


def _addresses(master: str) -> list[tuple[str, int]]:
    if STANDALONE_FORM.fullmatch(master):
        parts = [one.rpartition(":") for one in master.removeprefix("spark://").split(",")]
        return [(host, int(port)) for host, _, port in parts]
    if found := KUBERNETES_FORM.fullmatch(master):
        scheme, host, port = found.groups()
        return [(host, int(port or (80 if scheme == "http" else 443)))]
    return []


def _answers(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, ANSWER_WITHIN_S).close()
    except (OSError, OverflowError):
        return False
    return True
