"""Findings of the doctor about channels that depend on one profile."""

from msgspec.structs import replace

from chat_tui.client.doctor.findings import OK, WARN, Finding
from chat_tui.client.doctor.membership_findings import membership_findings
from chat_tui.wording import json_events
from sync.view.governance_infos import Access, GovernanceInfo, Policy, Role
from tests.support.chat_tui.governed import ALICE, FRIENDS, governance, plans
from tests.support.chat_tui.snapshots_of_state import CALM, snapshot


def findings(*infos: GovernanceInfo | None) -> list[Finding]:
    """Findings from what a running chat reports of its channels."""
    channels = [CALM if info is None else plans(info) for info in infos]
    shown = replace(snapshot(), channels=tuple(channels))
    return [*membership_findings(json_events.snapshot(shown, lambda _: "#plans"))]


def test_one_owner_and_no_admin_is_a_warning_with_the_fix() -> None:
    [finding] = findings(replace(governance(), only_owner=ALICE.peer))

    assert (finding.level, finding.what) == (WARN, "who is in #plans")
    assert finding.found.startswith("one owner and no admin")
    assert finding.fix == "Its owner makes an admin: /role NAME admin in #plans."


def test_a_channel_without_owner_is_a_warning() -> None:
    [admins] = findings(replace(governance(Role.ADMIN, *FRIENDS[1:]), owners_gone=True))
    [nobody] = findings(replace(governance(Role.MEMBER, *FRIENDS[2:]), owners_gone=True))
    announcing = governance(Role.MEMBER, *FRIENDS[2:], policy=Policy(invite=Access.ADMINS))
    [shut] = findings(replace(announcing, owners_gone=True))

    assert admins.found == "no owner is in any more: nobody can make or lower an admin"
    assert nobody.found == "neither owner nor admin is in: nobody can remove any more"
    assert shut.found == "neither owner nor admin is in: nobody can remove or let in any more"
    assert {admins.level, nobody.level} == {WARN}


def test_a_channel_with_an_admin_is_well() -> None:
    [finding] = findings(governance())

    assert finding.level == OK
    assert "4 people" in finding.found


def test_nothing_is_said_of_other_channels_or_without_an_open_chat() -> None:
    assert findings(None) == []
    assert [*membership_findings(None)] == []
