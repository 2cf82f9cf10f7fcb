"""Findings of the doctor about members: channels that depend on one profile."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from chat_tui.client.doctor.findings import Finding
from chat_tui.wording.membership import lost_with_admins
from sync.view.governance_infos import Access

ONE_OWNER: Final = "one owner and no admin: one lost profile, and nobody can"
MAKE_ADMIN: Final = "Its owner makes an admin: /role NAME admin in"
NO_OWNER: Final = "no owner is in any more: nobody can make or lower an admin"
FOUND_ANEW: Final = "Before its admins go, found another one with /create and invite everybody."
NOBODY: Final = "neither owner nor admin is in: nobody can"
ADMIN: Final = "admin"


def membership_findings(status: Mapping[str, Any] | None) -> Iterator[Finding]:
    """Yield a finding for each governed channel, from the status of the open chat, if one is."""
    channels = [] if status is None else status.get("channels", [])
    for info in channels:
        governance = info.get("governance")
        if not governance or not governance["members"]:
            continue
        what = f"who is in {info['channel']}"
        lost = lost_with_admins(Access[governance["policy"]["invite"].upper()])
        if governance["only_owner"] is not None:
            fix = f"{MAKE_ADMIN} {info['channel']}."
            yield Finding(what, f"{ONE_OWNER} {lost}", fix, warning=True)
        elif governance["owners_gone"]:
            admins = any(one["role"] == ADMIN for one in governance["members"])
            found = NO_OWNER if admins else f"{NOBODY} {lost} any more"
            yield Finding(what, found, FOUND_ANEW, warning=True)
        else:
            yield Finding(what, f"{len(governance['members'])} people, and not all hangs on one")
