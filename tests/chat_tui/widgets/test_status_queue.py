"""The line above the input: an answer has its time, and news comes after it."""

from chat_tui.widgets.status_line import StatusLine
from chat_tui.widgets.status_queue import WAITING_MAX, Saying
from chat_tui.wording import panels
from sync.view.view import Level, Notice, Snapshot
from tests.support.chat_tui.readings import command, paint, reading, short_talk, shown, until

ANSWER, OTHER = Notice("bob is no longer blocked"), Notice("Copied the message")
NEWS, LATER = Notice("Back with bob: 2 received, 0 sent."), Notice("The network changed.")
BARRED = "You are a reader here: you can read and react, not write."
WRONG = Notice("There is nobody called bod.", Level.ERROR)


def test_news_waits_for_an_answer_and_comes_after_it() -> None:
    saying = Saying()
    saying.answer(ANSWER)
    saying.news(NEWS)
    saying.news(LATER)
    said = []
    while saying.now is not None:
        said.append(saying.now)
        saying.pass_on()

    assert said == [ANSWER, NEWS, LATER]


def test_an_answer_does_not_wait_and_the_news_it_interrupts_is_said_again() -> None:
    saying = Saying()
    saying.news(NEWS)
    before = saying.now
    saying.answer(ANSWER)
    saying.answer(OTHER)
    during = saying.now
    saying.pass_on()

    assert (before, during, saying.now) == (NEWS, OTHER, NEWS)


def test_what_went_wrong_stands_until_the_person_acts_and_news_is_heard_meanwhile() -> None:
    saying = Saying()
    saying.answer(WRONG)
    saying.news(NEWS)
    first = saying.now
    saying.pass_on()
    second = saying.now
    saying.pass_on()
    third = saying.now
    saying.begin()

    assert (first, second, third, saying.now) == (WRONG, NEWS, WRONG, None)


def test_beginning_something_else_forgets_the_answer_and_no_news() -> None:
    saying = Saying()
    saying.answer(ANSWER)
    saying.news(NEWS)
    saying.begin()
    after_the_answer = saying.now
    saying.begin()

    assert (after_the_answer, saying.now) == (NEWS, NEWS)


def test_what_does_not_hold_any_more_is_forgotten_though_nobody_acts() -> None:
    saying = Saying()
    saying.answer(WRONG)
    saying.news(NEWS)
    saying.pass_on()
    held = saying.holds(WRONG)
    saying.forget(WRONG)
    during = saying.now
    saying.forget(ANSWER)
    saying.pass_on()

    assert held
    assert (during, saying.now) == (NEWS, None)
    assert not saying.holds(WRONG)


def test_an_answer_is_overtaken_and_news_and_what_went_wrong_are_not() -> None:
    said = []
    for begin in (lambda one: one.answer(ANSWER), lambda one: one.answer(WRONG), _news):
        saying = Saying()
        begin(saying)
        saying.overtake()
        said.append(saying.now)

    assert said == [None, WRONG, NEWS]


def _news(saying: Saying) -> None:
    saying.news(NEWS)


def test_dismissing_forgets_what_is_said_and_goes_on_to_the_next() -> None:
    saying = Saying()
    for one in (NEWS, LATER):
        saying.news(one)
    saying.dismiss()
    first = saying.now
    saying.dismiss()

    assert (first, saying.now) == (LATER, None)


def test_what_goes_wrong_by_itself_is_said_at_once() -> None:
    saying = Saying()
    saying.answer(ANSWER)
    saying.news(WRONG)

    assert saying.now == WRONG


def test_why_nothing_can_be_written_stays_in_sight_above_news_and_gives_way_to_answers() -> None:
    saying = Saying()
    seen = []
    for said in (saying.news, saying.answer):
        said(NEWS)
        kept = not saying.is_answer
        seen.append(panels.status(BARRED, saying.now, barred=True, kept=kept).plain)

    assert seen == [f"{BARRED}\n{NEWS.text}", NEWS.text]


async def test_on_the_screen_news_does_not_cover_why_nothing_can_be_written() -> None:
    async with reading(short_talk()) as (app, pilot):
        status = app.query_one(StatusLine)
        status.show(BARRED, barred=True)
        status.tell(NEWS)
        await pilot.pause()
        both = shown(app)
        status.pass_on()
        status.show(BARRED, barred=True)
        await pilot.pause()
        after = shown(app)

        assert BARRED in both
        assert NEWS.text in both
        assert BARRED in after
        assert NEWS.text not in after


def test_only_so_much_news_waits_and_the_oldest_gives_way() -> None:
    saying = Saying()
    saying.answer(ANSWER)
    news = [Notice(f"news {number}") for number in range(WAITING_MAX + 2)]
    for one in news:
        saying.news(one)
    said = []
    while saying.now is not None:
        said.append(saying.now)
        saying.pass_on()

    assert said == [ANSWER, *news[2:]]


async def test_news_does_not_hide_what_a_command_answered() -> None:
    async with reading(short_talk()) as (app, pilot):
        await command(pilot, "/typing off")
        await until(pilot, lambda: "Others do not see that you are typing." in shown(app))
        app._note(NEWS)
        app._paint()
        app._tick()
        await pilot.pause()
        with_news = shown(app)
        app._around.status.pass_on()
        await pilot.pause()
        after = shown(app)
        await command(pilot, "/typing on")
        await until(pilot, lambda: "Others see that you are typing." in shown(app))
        interrupted = shown(app)
        app._around.status.pass_on()
        await pilot.pause()
        again = shown(app)

    assert "Others do not see that you are typing." in with_news
    assert NEWS.text not in with_news
    assert NEWS.text in after
    assert NEWS.text not in interrupted
    assert NEWS.text in again


async def test_an_answer_that_has_come_true_is_replaced_and_one_that_has_passed_is_not() -> None:
    true = ""

    def then(_snapshot: Snapshot) -> str:
        return true

    async with reading(short_talk()) as (app, pilot):
        app._around.answer("It comes soon.", then)
        await paint(app, pilot)
        waiting = shown(app)
        true = "It is here."
        await paint(app, pilot)
        came = shown(app)
        true = ""
        app._around.answer("It comes soon.", then)
        app._around.status.be_quiet()
        true = "It is here."
        await paint(app, pilot)
        passed = shown(app)

    assert "It comes soon." in waiting
    assert "It is here." in came
    assert "It comes soon." not in came
    assert "It is here." not in passed
