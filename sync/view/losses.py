"""Ops that came to nothing, each looked up when somebody asks: few are ever shown at once."""

from sync.group.governance_parts import Act, Governance, Key, Loss, Reason, State


class Losses:
    """Ops of a state that came to nothing, each looked up when it is asked for.

    The same as `Governance.losses`, which looks at all of them.
    """

    def __init__(self, governance: Governance, state: State) -> None:
        self._governance, self._state = governance, state
        self._overruled: dict[Key, dict[int, int]] = {}

    def of(self, act: Act) -> Loss | None:
        """Return why an op came to nothing; None if it counts, or is not in the state."""
        state = self._state
        for target in act.targets:
            standing = state.people.get(target)
            if standing is None or standing.act != act.number:
                continue
            if standing is not state.folded[target]:
                return Loss(Reason.CROWDED, None)
        winners = [self._lost(target).get(act.number) for target in act.targets]
        if won := [winner for winner in winners if winner is not None]:
            acts = self._governance.dag.acts
            return Loss(Reason.OVERRULED, min(won, key=lambda number: acts[number].place))
        return state.voids.get(act.number)

    def _lost(self, key: Key) -> dict[int, int]:
        lost = self._overruled.get(key)
        if lost is None:
            projection = self._governance.projection
            about = projection.relations.about.get(key, 0) & self._state.counting
            lost = self._overruled[key] = projection.folds.lost(about)
        return lost
