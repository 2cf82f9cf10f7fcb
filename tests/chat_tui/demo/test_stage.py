"""Stepping, going back, meddling in the past: the same seed and acts give the same run."""

import pytest
from msgspec.structs import replace

from chat_tui.demo import acts, stage
from chat_tui.demo.run import Run
from chat_tui.demo.scenarios import scenario
from chat_tui.demo.stage import Stage
from sync.machine import MILLISECOND, SECOND
from tests.support.chat_tui.demos import SEED


def test_back_and_forward_shows_the_same() -> None:
    played = Stage(scenario(3), SEED)
    seen = [played.shot]
    for _ in range(12):
        assert played.forward()
        seen.append(played.shot)

    for shot in reversed(seen[:-1]):
        assert played.back()
        assert played.shot == replace(shot, earlier=True)
    assert not played.back()

    for shot in seen[1:]:
        assert played.forward()
        assert replace(played.shot, earlier=False) == shot
    assert not played.in_the_past


def test_a_run_played_again_looks_the_same_at_every_step() -> None:
    one, other = Stage(scenario(4), SEED), Stage(scenario(4), SEED)
    while not one.over:
        one.advance(37 * MILLISECOND)
    while not other.over:
        other.forward()

    assert one.run.digest() == other.run.digest()
    assert [said.plain for said in one.run.said] == [said.plain for said in other.run.said]


def test_meddling_in_the_past_goes_on_from_there() -> None:
    played = Stage(scenario(3), SEED)
    for _ in range(10):
        played.forward()
    for _ in range(4):
        played.back()
    then = played.shot

    played.go_on_from(played.rewound())

    assert not played.in_the_past
    assert played.shot.now == then.now
    assert [one.lines for one in played.shot.people] == [one.lines for one in then.people]
    assert played.act(acts.Write(1, "wait"))
    while not played.over:
        played.forward()
    assert any(line.text == "wait" for line in played.shot.people[2].lines)


def test_a_link_is_told_as_cut_and_then_as_mended() -> None:
    played = Stage(scenario(1), SEED)

    played.act(acts.Cut(1, 0))
    played.act(acts.Cut(1, 0))

    told = [said.plain for said in played.run.said]
    assert told[-2:] == [
        "The link between bob and alice is cut.",
        "The link between bob and alice is mended and comes back within 5 s.",
    ]


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_what_the_person_did_is_done_again_at_its_moment(number: int) -> None:
    played = Stage(scenario(number), SEED)
    played.advance(2500 * MILLISECOND)
    played.act(acts.Write(0, "first"))
    played.forward()
    played.act(acts.Lose(None, (1,)))
    played.act(acts.Write(0, "second"))
    played.advance(SECOND)
    played.act(acts.Cut(0, 1))
    played.forward()
    played.forward()
    played.act(acts.Cut(0, 1))
    played.act(acts.Loss(10))
    played.advance(3 * SECOND)
    played.act(acts.Power(1, on=False))
    played.advance(SECOND)
    played.act(acts.Power(1, on=True))
    played.act(acts.Loss(0))
    while not played.over:
        played.forward()

    again = Run(scenario(number), SEED, played.acts)
    again.finish()

    assert again.acts == played.acts
    assert again.digest() == played.run.digest()
    assert again.said == played.run.said


def test_pictures_kept_no_more_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "PICTURES_KEPT", 10)
    played = Stage(scenario(3), SEED)
    seen = [played.shot.said]
    while played.forward():
        seen.append(played.shot.said)

    back = []
    while played.back():
        back.append(played.shot.said)

    assert back[-1] == ()
    assert played.step_number == 0
    assert list(reversed(back)) == seen


def test_nothing_can_be_done_to_what_is_over() -> None:
    played = Stage(scenario(1), SEED)
    while not played.over:
        played.advance(SECOND)

    assert not played.act(acts.Write(0, "late"))
    assert not played.forward()
    assert played.back()
