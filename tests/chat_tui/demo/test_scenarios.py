"""The scenarios on several seeds: every check holds, and what is told is what happened."""

import pytest

from chat_tui.demo.acts import Power
from chat_tui.demo.checks import all_received, answered_once, parents_first
from chat_tui.demo.painting.ranges import range_lines
from chat_tui.demo.phrases import clock_tenths
from chat_tui.demo.run import PATIENCE, Run
from chat_tui.demo.scenario import Past
from chat_tui.demo.scenarios import SCENARIOS, scenario
from chat_tui.demo.stage import Stage
from chat_tui.wording.glyphs import UNICODE
from sync.calimero.governance.ops import Access, Policy, SetPolicy
from sync.machine import SECOND
from sync.sds.message import Delivery
from sync.sessions.values import Outcome
from tests.support.chat_tui.demos import finished, played, told
from tests.support.grids import with_grid

SEEDS = with_grid([1, 4], [2, 3, 5, 6])
"""All six are in the whole grid; the demo itself is shown on seed 4."""
CROWD_SEEDS = (4,)
"""A crowd takes half a minute."""
QUICK = [one for one in SCENARIOS if one.people == 0]
CROWDED = [one for one in SCENARIOS if one.people]


def _holds(run: Run) -> None:
    failing = [f"{one.claim}: {one.because}" for one in run.verdicts if not one.holds]
    assert not failing, f"scenario {run.scenario.number}, seed {run.seed}"
    assert len(run.verdicts) == len(run.scenario.checks)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("number", [one.number for one in QUICK])
def test_every_promise_holds(number: int, seed: int) -> None:
    run = finished(number, seed)

    _holds(run)
    assert 30 * SECOND <= run.now - run.began <= 60 * SECOND


@pytest.mark.slow
@pytest.mark.parametrize("seed", CROWD_SEEDS)
def test_a_crowd_keeps_every_promise_gives_about_one_answer_each_and_is_told_why(seed: int) -> None:
    [crowded] = CROWDED
    run = finished(crowded.number, seed)

    _holds(run)
    assert run.now - run.began <= 60 * SECOND + PATIENCE
    assert len(run.world.meter.requests) >= 100
    assert "is in the other half and stays silent" in told(run)
    assert "response group" in "\n".join(said.formula for said in run.said)


def test_what_differs_of_a_long_past_is_told_by_a_sketch_and_drawn_wave_by_wave() -> None:
    played, drawn = Stage(scenario(14), 4), list[str]()
    while played.forward():
        said = played.shot.said
        if said and "6 wanted, 6 owed" in said[-1].plain:
            drawn = [line.plain for line in range_lines(played.shot, 0, UNICODE, 80, 20)]
    text = told(played.run)

    assert "64 symbols of 1,0" in text
    assert "lacked 6, got 6, gave 6; proved to agree." in text
    assert any(" waves: " in one.formula for one in played.run.said)
    [line] = [line for line in drawn if line.startswith(" pure in wave ")]
    signs = line.removeprefix(" pure in wave ").split()[0]
    assert len(signs) == 64
    assert {"1", "2", UNICODE.equal} <= set(signs)


def test_a_lost_line_is_found_by_its_id_and_told_so() -> None:
    run = finished(12)
    text = told(run)

    assert "found each other" in text
    assert " compares histories with bob: new link." in text
    assert "1 wanted." in text
    assert "1 entry." in text
    assert 'bob has "under the mat" now and shows it in its place, before 1 line.' in text
    assert "lacked 1, got 1, gave 0; proved to agree." in text


def test_a_removal_is_told_to_everybody_and_ends_what_the_removed_gets() -> None:
    run = finished(9)
    text = told(run)

    assert "alice removed mallory (spam). The act is signed, and goes out to everybody." in text
    assert "carol learns that alice removed mallory (spam)." in text
    assert "mallory learns that alice removed mallory (spam)." in text
    assert "carol gives mallory nothing more of the channel: mallory is out." in text
    assert 'mallory writes "buy my cake"' in text
    assert 'mallory writes "hello?"' not in text
    assert 'mallory shows "quiet at last"' not in text
    assert "mallory out, and told so" in run.verdicts[0].because


def test_a_newcomer_comes_in_by_a_code_while_its_maker_is_off() -> None:
    run = finished(10)
    lines = [one.plain for one in run.said]

    off = lines.index("Alice's computer is off.")
    joined = lines.index("carol joined by a code. The act is signed, and goes out to everybody.")
    on = lines.index("Alice's computer is on.")
    assert off < joined < on
    assert "alice learns that carol joined by a code." in lines[on:]
    assert not any("carol shows" in line for line in lines[:joined])
    assert 'carol shows "carol comes later": everything it builds on is here.' in lines[joined:]


def test_two_halves_find_by_levels_what_each_has_set_and_have_one_topic() -> None:
    run = finished(11)
    text = told(run)

    assert 'alice sets the topic "lunch at noon". It is signed' in text
    assert 'carol sets the topic "lunch at one". It is signed' in text
    assert "compares topic, pins and marks with" in text
    assert ", level by level: " in text
    assert "have the same topic, pins and marks." in text
    assert 'topic "lunch at one"' in run.verdicts[0].because


def test_the_check_of_one_state_fails_where_halves_do_not_meet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sync.sim.world.World.heal", lambda _: None)

    verdicts = {one.claim: one.holds for one in played(11).verdicts}

    assert not verdicts["one topic, the same pins and marks"]


def test_the_checks_of_a_removal_fail_where_nobody_is_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "chat_tui.demo.acts.removal", lambda *_, **__: SetPolicy(Policy(pins=Access.ADMINS))
    )

    verdicts = {one.claim: one.holds for one in played(9).verdicts}

    assert verdicts["one membership and one log"]
    assert not verdicts["who is out got nothing since"]


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    assert played(4).digest() == played(4).digest()
    assert finished(4).digest() != played(4, seed=5).digest()


def test_marks_pass_through_maybe_to_received() -> None:
    text = told(finished(1))

    assert '"I brought" was perhaps received: bob\'s filter seems to hold it.' in text
    assert 'alice knows that "I brought" was received: bob\'s sync message names it.' in text


def test_messages_of_the_same_time_are_told_to_stand_by_id() -> None:
    run = finished(2)
    [one, other] = sorted(
        row.message.entry.message_id
        for row in run.world.nodes[0].disk.rows.values()
        if row.message.entry.header.created_ns == run.began + 3 * SECOND
    )
    log = [message_id for _, message_id in run.world.nodes[2].disk.log()]

    assert log.index(one) + 1 == log.index(other)
    assert "by id." in told(run)


def test_decoding_of_a_sketch_is_told_in_plain_words_and_in_waves() -> None:
    run = finished(14)
    [said] = [one for one in run.said if "symbols have one line that differs alone" in one.plain]

    assert said.plain.startswith("bob subtracts the own symbols from alice's: ")
    assert "with those lines taken out" in said.plain
    assert "decoded 2 waves: " in said.formula


def test_whoever_lacks_a_parent_says_when_it_asks_and_asks_then() -> None:
    run = finished(3)
    sentences = [said.plain for said in run.said]

    held = next(text for text in sentences if "holds" in text)
    asked = next(said for said in run.said if "carol asks everybody" in said.plain)

    assert held.startswith('carol gets "now?", which builds on "coffee?".')
    assert f"carol asks at {clock_tenths(asked.at)}." in held


def test_each_number_in_a_formula_is_the_engines() -> None:
    run = finished(3)

    formula = next(said.formula for said in run.said if "T_req = now" in said.formula)
    answer = next(said.formula for said in run.said if "xor" in said.formula)

    assert "now + 1000 ms +" in formula  # T_min of the lan profile, and the share follows from ids
    assert "of 5000 ms" in formula
    assert "response group 1 of 1" in answer


def test_another_answers_for_a_sender_who_is_gone_and_the_others_stay_silent() -> None:
    run = finished(4)
    text = told(run)

    assert run.world.meter.responses.total() == 1
    assert text.count("goes out to everybody again") == 1
    assert text.count("drops the own one") == 1


def test_both_sides_of_a_cut_are_compared_by_ranges() -> None:
    run = finished(5)

    assert "64 parts to compare" in told(run)
    ended = run.world.witness.sessions
    assert any(one.converged and one.need for one in ended)
    assert all(
        one.converged or one.outcome is Outcome.BENIGN or "closed" in one.result for one in ended
    )


def test_the_newcomer_gets_every_line_once() -> None:
    run = finished(6)
    carol = run.world.nodes[2]

    assert run.history <= {message_id for _, message_id in carol.disk.log()}
    assert any("240 came" in one.because for one in run.verdicts)


def test_who_is_between_stays_in_touch_and_passes_lines_on() -> None:
    run = finished(8)
    text = told(run)

    assert "carol compares histories with bob: somebody is heard through this peer alone" in text
    assert "bob and carol stay in touch" in text
    assert 'bob passes "and now?" on to carol.' in text
    assert 'bob passes "at once!" on to alice.' in text


def test_without_anybody_between_nothing_is_passed_on() -> None:
    run = Run(scenario(8), 4)
    run.act(Power(1, on=False))
    run.finish()

    [passed_on] = [one for one in run.verdicts if one.claim == "passed on at once in the end"]
    assert not passed_on.holds
    assert "0 live sessions" in passed_on.because


# --- Checks can fail -----------------------------------------------------------------------------


def test_a_check_that_fails_says_why() -> None:
    run = Run(scenario(3), 4)
    run.step()
    run.act(Power(1, on=False))
    run.finish()

    order = run.verdicts[0]
    assert not order.holds
    assert "bob off" in order.because


def test_an_answer_given_twice_is_found_out() -> None:
    run = finished(3)
    [asked] = run.world.meter.requests
    answers = [(str(asked), run.began), (str(asked), run.began + SECOND)]
    past = Past(
        run.world, run.scenario.names, [], run.history, [], answers, SECOND // 10, frozenset()
    )

    verdict = answered_once(past)

    assert not verdict.holds
    assert "2 times" in verdict.because


def test_a_message_shown_before_its_parent_is_found_out() -> None:
    run = finished(3)
    shown = [[str(message_id) for _, message_id in log] for log in run.world.logs()]
    shown[1].reverse()
    past = Past(run.world, run.scenario.names, shown, run.history, [], [], 0, frozenset())

    verdict = parents_first(past)

    assert not verdict.holds
    assert verdict.because.startswith("bob saw")


def test_a_message_nobody_has_named_is_found_out() -> None:
    run = finished(1)
    row = next(iter(run.world.nodes[0].disk.rows.values()))
    row.delivery = Delivery.UNACKNOWLEDGED
    past = Past(run.world, run.scenario.names, [], run.history, [], [], 0, frozenset())

    assert not all_received(past).holds
