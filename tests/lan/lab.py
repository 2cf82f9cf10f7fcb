"""A LAN in network namespaces: hosts at one switch, whose cables can be pulled.

Rules:
1. Only namespaces that bear this lab's name are touched; no link ever leads out of them.
2. Only processes inside these namespaces are ended.
3. `down` may be called at any time, any number of times.

It needs iproute2 and the right to make namespaces. Without root the same is had by
`unshare -Urnm sh -c 'mount -t tmpfs none /run && python -m pytest -m lan'`.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Collection
from contextlib import suppress
from types import TracebackType
from typing import Self

NETWORK = "10.77.0"
"""First three octets of every address; the last one is the number of the host."""

BRIDGE = "type bridge stp_state 0 forward_delay 0 mcast_snooping 0"
"""Forwards at once and to everybody: a spanning tree would swallow the first 30 s, and snooping
without a querier all multicast."""


def ip(*words: str, batch: Collection[str] = ()) -> str:
    """Run iproute2 with `words`, or with the lines of `batch` as well; return what it printed.

    Raises:
        OSError: it failed; the text is what it said.
    """
    reading = ["-batch", "-"] if batch else []
    lines = "".join(f"{line}\n" for line in batch)
    done = subprocess.run(
        ["ip", *words, *reading], input=lines, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


def obstacle() -> str | None:
    """Return the reason why this machine cannot host a lab, or None when it can."""
    if shutil.which("ip") is None:
        return "iproute2 is not installed"
    probe = f"chatlab{os.getpid()}-probe"
    try:
        ip("netns", "add", probe)
    except OSError as refusal:
        return f"network namespaces are not allowed here ({refusal})"
    try:
        ip("-n", probe, batch=[f"link add br0 {BRIDGE}", "link add v0 type veth peer name v1"])
    except OSError as refusal:
        return f"bridges or veth pairs are not allowed here ({refusal})"
    finally:
        ip("netns", "del", probe)
    return None


class Lab:
    """`hosts` hosts, numbered from 1, plugged into one switch while inside `with`."""

    def __init__(self, name: str, hosts: int) -> None:
        self.name = name
        self.hosts = range(1, hosts + 1)
        self.switch = f"{name}-sw"

    def __enter__(self) -> Self:
        self.up()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.down()

    def namespace(self, host: int) -> str:
        """The namespace that is `host`."""
        return f"{self.name}-h{host}"

    def address(self, host: int) -> str:
        """The address that `host` starts with."""
        return f"{NETWORK}.{host}"

    def prefix(self, host: int) -> tuple[str, ...]:
        """Return the prefix that runs a command line on `host`; the process id stays the same."""
        return ("ip", "netns", "exec", self.namespace(host))

    def up(self) -> None:
        """Build the network; every host has a loopback and `lan0` with a default route."""
        self.down()
        try:
            self._build()
        except OSError:
            self.down()
            raise

    def down(self) -> None:
        """End what runs on the hosts and remove the network."""
        listed = (line.split()[0] for line in ip("netns", "list").splitlines() if line)
        mine = {self.switch, *map(self.namespace, self.hosts)}
        for namespace in mine.intersection(listed):
            for pid in ip("netns", "pids", namespace).split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            ip("netns", "del", namespace)

    def cut(self, host: int) -> None:
        """Pull the cable of `host`: it loses its carrier."""
        ip("-n", self.switch, "link", "set", f"p{host}", "down")

    def heal(self, host: int) -> None:
        """Plug the cable of `host` back in."""
        ip("-n", self.switch, "link", "set", f"p{host}", "up")

    def partition(self, *sides: Collection[int]) -> None:
        """Split the network silently: each side keeps its carriers and hears only itself."""
        self.merge()
        for number, side in enumerate(sides[1:], start=1):
            plugged = [f"link set p{host} master br{number}" for host in side]
            made = [f"link add br{number} {BRIDGE}", f"link set br{number} up"]
            ip("-n", self.switch, batch=[*made, *plugged])

    def merge(self) -> None:
        """Undo `partition`."""
        ip("-n", self.switch, batch=[f"link set p{host} master br0" for host in self.hosts])
        shown = ip("-n", self.switch, "-br", "link", "show", "type", "bridge")
        bridges = {line.split()[0] for line in shown.splitlines() if line}
        for bridge in bridges - {"br0"}:
            ip("-n", self.switch, "link", "del", bridge)

    def isolate(self, *hosts: int) -> None:
        """Let these hosts hear only hosts that are not among them, as an isolated Wi-Fi does."""
        ports = [f"link set p{host} type bridge_slave isolated on" for host in hosts]
        ip("-n", self.switch, batch=ports)

    def change_address(self, host: int, last_octet: int) -> None:
        """Give `host` another address in the same network, and take the one it has."""
        ip("-n", self.namespace(host), batch=["addr flush dev lan0", *self._addressing(last_octet)])

    def take_address(self, host: int) -> None:
        """Take the address of `host`, and with it its routes; the cable stays."""
        ip("-n", self.namespace(host), "addr", "flush", "dev", "lan0")

    def _build(self) -> None:
        for namespace in (self.switch, *map(self.namespace, self.hosts)):
            ip("netns", "add", namespace)
        ip("-n", self.switch, batch=[f"link add br0 {BRIDGE}", "link set br0 up"])
        for host in self.hosts:
            cable = f"link add p{host} type veth peer name lan0 netns {self.namespace(host)}"
            ip("-n", self.switch, batch=[cable, f"link set p{host} master br0 up"])
            ip(
                "-n",
                self.namespace(host),
                batch=["link set lo up", "link set lan0 up", *self._addressing(host)],
            )

    def _addressing(self, last_octet: int) -> list[str]:
        # The kernel drops the routes with the last address. The default route is what makes
        # multicast choose lan0.
        return [
            f"addr add {NETWORK}.{last_octet}/24 brd + dev lan0",
            "route replace default dev lan0",
        ]
