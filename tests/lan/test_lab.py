"""The lab is a network: its hosts hear each other exactly when their cables allow it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.lan.lab import NETWORK, Lab, ip
from tests.support.patience import PATIENCE_S

pytestmark = [pytest.mark.lan, pytest.mark.slow]

ECHO = """
import socket
echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
echo.bind(("", 4607))
print("listening", flush=True)
while True:
    echo.sendto(*echo.recvfrom(64))
"""

PROBE = """
import socket, sys
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
probe.settimeout(0.2)
for attempt in range(int(sys.argv[2])):
    probe.sendto(b"are you there?", (sys.argv[1], 4607))
    try:
        probe.recv(64)
    except TimeoutError:
        continue
    sys.exit(0)
sys.exit(1)
"""

ATTEMPTS_UNTIL_HEARD = 20
"""4 s: after a heal the kernel takes up to a second to believe in the carrier."""

ATTEMPTS_IN_VAIN = 3
"""0.6 s: an answer within the lab takes less than a millisecond."""


def python(lab: Lab, host: int, program: str, *arguments: str) -> list[str]:
    return [*lab.prefix(host), sys.executable, "-I", "-S", "-c", program, *arguments]


@contextmanager
def echoing(lab: Lab) -> Iterator[list[subprocess.Popen[str]]]:
    """Every host answers datagrams on port 4607; the lab ends them when it goes down."""
    echoes = [
        subprocess.Popen(python(lab, host, ECHO), stdout=subprocess.PIPE, text=True)
        for host in lab.hosts
    ]
    try:
        for echo in echoes:
            assert echo.stdout is not None
            assert echo.stdout.readline() == "listening\n"
        yield echoes
    finally:
        for echo in echoes:
            echo.kill()
            echo.communicate()


def answers(lab: Lab, host: int, address: str, attempts: int) -> bool:
    probe = python(lab, host, PROBE, address, str(attempts))
    return subprocess.run(probe, check=False).returncode == 0


def hears(lab: Lab, host: int, other: int) -> bool:
    return answers(lab, host, lab.address(other), ATTEMPTS_UNTIL_HEARD)


def is_cut_off(lab: Lab, host: int, other: int) -> bool:
    return not answers(lab, host, lab.address(other), ATTEMPTS_IN_VAIN)


def carrier(lab: Lab, host: int) -> str:
    shown = subprocess.check_output([*lab.prefix(host), "cat", "/sys/class/net/lan0/carrier"])
    return "up" if shown.strip() == b"1" else "down"


def namespaces(lab: Lab) -> list[str]:
    return [line for line in ip("netns", "list").splitlines() if line.startswith(lab.name)]


def test_every_host_hears_every_other(lab: Lab) -> None:
    with echoing(lab):
        deaf = [
            (host, other)
            for host in lab.hosts
            for other in lab.hosts
            if host != other and not hears(lab, host, other)
        ]

    assert not deaf


def test_a_pulled_cable_takes_the_carrier_until_it_is_plugged_back(lab: Lab) -> None:
    with echoing(lab):
        lab.cut(2)

        assert carrier(lab, 2) == "down"
        assert is_cut_off(lab, 1, 2)
        assert is_cut_off(lab, 2, 3)
        assert hears(lab, 1, 3)

        lab.heal(2)

        assert hears(lab, 1, 2)
        assert carrier(lab, 2) == "up"


def test_a_partition_is_silent_and_a_merge_undoes_it(lab: Lab) -> None:
    with echoing(lab):
        lab.partition([1, 2], [3], [4, 5])

        assert [carrier(lab, host) for host in lab.hosts] == ["up"] * 5
        assert hears(lab, 1, 2)
        assert hears(lab, 4, 5)
        assert is_cut_off(lab, 2, 3)
        assert is_cut_off(lab, 3, 4)
        assert is_cut_off(lab, 5, 1)

        lab.merge()

        assert hears(lab, 2, 3)
        assert hears(lab, 3, 4)
        assert hears(lab, 5, 1)


def test_a_new_partition_takes_the_place_of_the_old_one(lab: Lab) -> None:
    with echoing(lab):
        lab.partition([1, 2], [3, 4, 5])
        lab.partition([1, 3], [2, 4, 5])

        assert hears(lab, 1, 3)
        assert is_cut_off(lab, 1, 2)


def test_a_host_is_reached_at_its_new_address_only(lab: Lab) -> None:
    with echoing(lab):
        lab.change_address(5, 50)

        assert answers(lab, 1, f"{NETWORK}.50", ATTEMPTS_UNTIL_HEARD)
        assert is_cut_off(lab, 1, 5)
        assert hears(lab, 5, 1)

        lab.change_address(5, 5)

        assert hears(lab, 1, 5)


def test_down_ends_what_runs_inside_and_only_once_has_anything_to_do(lab: Lab) -> None:
    with echoing(lab) as echoes:
        lab.down()
        codes = [echo.wait(timeout=PATIENCE_S) for echo in echoes]
    lab.down()

    assert codes == [-9] * 5
    assert namespaces(lab) == []


def test_down_leaves_other_labs_alone(lab: Lab) -> None:
    with Lab(f"{lab.name}-other", hosts=1) as other, echoing(other) as [echo]:
        lab.down()

        assert echo.poll() is None
        assert len(namespaces(other)) == 2
