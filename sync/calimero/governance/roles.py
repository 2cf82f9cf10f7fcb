"""Roles of people in a channel, and the policy: from which role on something is allowed."""

from enum import IntEnum
from typing import Final, NamedTuple


class Role(IntEnum):
    """Rights of somebody, rising; `NONE` and `OWNER` are on no wire."""

    NONE = 0
    READER = 1
    MEMBER = 2
    ADMIN = 3
    OWNER = 4


class Access(IntEnum):
    """Those who may do something."""

    MEMBERS = 0
    ADMINS = 1

    @property
    def least(self) -> Role:
        """The role from which on it is allowed."""
        return Role.MEMBER if self is Access.MEMBERS else Role.ADMIN


class Policy(NamedTuple):
    """Those who may write, invite, set the topic and pin."""

    write: Access = Access.MEMBERS
    invite: Access = Access.MEMBERS
    topic: Access = Access.MEMBERS
    pins: Access = Access.MEMBERS


OPEN_POLICY: Final = Policy()
