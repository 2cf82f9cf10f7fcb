"""Fates of ids that were found missing: the columns say what sets would say."""

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sync.sessions.found_ids import Fate, FoundIds
from sync.structures.ids import Ids
from sync.structures.ordered_set import SyncId

IDS = [SyncId(time, bytes([last] * 32)) for time in (0, 1, 2**63) for last in (0, 1, 255)]

some_ids = st.lists(st.sampled_from(IDS), max_size=6)


class FoundMachine(RuleBasedStateMachine):
    """Ids found, beside a dictionary of their fates."""

    def __init__(self) -> None:
        super().__init__()
        self.found, self.fates = FoundIds(), dict[SyncId, Fate]()

    @rule(ids=some_ids)
    def add(self, ids: list[SyncId]) -> None:
        self.found.add(Ids.of(ids))
        for one in ids:
            if not self.fates.get(one):
                self.fates[one] = Fate.MISSING

    @rule(one=st.sampled_from(IDS), fate=st.sampled_from([Fate.GONE, Fate.GOT, Fate.ELSEWHERE]))
    def came(self, one: SyncId, fate: Fate) -> None:
        was_missing = self.fates.get(one) is Fate.MISSING
        assert self.found.came(one, fate) is was_missing
        if was_missing:
            self.fates[one] = fate

    @rule()
    def seal(self) -> None:
        block = self.found.seal()
        assert [int(number) for number in block.numbers] == [
            fate for _, fate in sorted(self.fates.items())
        ]

    @invariant()
    def says_the_same(self) -> None:
        missing = sorted(one for one, fate in self.fates.items() if fate is Fate.MISSING)
        assert self.found.missing == missing
        assert [self.found.is_missing(one) for one in IDS] == [one in missing for one in IDS]
        for fate in (Fate.MISSING, Fate.GOT, Fate.ELSEWHERE):
            assert self.found.count(fate) == [*self.fates.values()].count(fate)
        assert self.found.all == sorted(self.fates)


TestFound = FoundMachine.TestCase
