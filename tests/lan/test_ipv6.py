"""A network with IPv6 alone: what is said there is true."""

from pathlib import Path

import pytest

from tests.lan.lab import Lab, ip
from tests.lan.people import person_on
from tests.support.processes import PlainProcess, run

pytestmark = [pytest.mark.lan, pytest.mark.slow]


async def test_a_network_of_ipv6_alone_is_called_that(lab: Lab, tmp_path: Path) -> None:
    ip("-n", lab.namespace(1), batch=["addr flush dev lan0", "addr add fd00::1/64 dev lan0 nodad"])
    person = person_on(lab, tmp_path, 1)

    plain = [word for word in person.plain() if word != "--json"]
    said = (await run(plain)).stdout
    tested = (await run(person.command("doctor"))).stdout

    assert "This network has IPv6 only, and chat-tui speaks IPv4" in said
    assert "Wi-Fi" not in said + tested
    assert "only IPv6" in tested
    async with PlainProcess(person) as waiting:
        [written] = await waiting.say("it waits")
        assert written["own"]
