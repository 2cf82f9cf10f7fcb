"""The runner of a live node: all that it needs of the system's generator is in the trace."""

import random

from sync.entries.identity import Identity, verify
from sync.group.inputs.foreseen import ForeseeingGate
from sync.group.writer import Author
from sync.net import clock as system
from sync.net.options import Options
from sync.net.trace import SEED_SIZE, Began, Drew, Trace
from sync.runner.runner import Runner
from sync.sessions.protocol import Protocols


def traced_runner(
    identity: Identity, clock: system.Clock, trace: Trace, options: Options, protocols: Protocols
) -> Runner:
    """Return a runner; the seed of its dice, and each number drawn for it later, are traced."""

    def draw_log() -> int:
        drawn = system.draw_log()
        trace(clock.now(), "runner", Drew(drawn), ())  # a replay has no generator
        return drawn

    me, seed = identity.peer_id, system.draw(SEED_SIZE)
    spoken = tuple(sorted(protocols.names))
    began = Began(me, seed, options.retention, spoken)
    trace(clock.now(), "runner", began, ())
    rng = random.Random(seed)  # noqa: S311  # decides delays, not secrets; the machines' alone
    author = Author(
        me, identity.sign, verify, draw_log, gates=ForeseeingGate, retention=options.retention
    )
    return Runner(author, rng, trace, protocols=protocols)
