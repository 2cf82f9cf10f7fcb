"""Details of the debug pane's rows: a plain sentence, then the formula with real values."""

import math
from typing import Final

from chat_tui.debug.section import Detail
from chat_tui.text.safe_text import clean_text
from chat_tui.text.times import count, milliseconds, size, span, time_of_day, times
from chat_tui.wording import clocks
from chat_tui.wording.sentences import name_of, short_id
from sync.machine import MILLISECOND, SECOND, MessageId, Nanos, PeerId
from sync.sds.evidence import Evidence
from sync.sds.message import Delivery
from sync.sds.parameters import PROFILES, Parameters
from sync.sds.repair import GAP_WINDOWS, LOST_WINDOWS, Window, digest
from sync.view.view import (
    AnswerInfo,
    BloomInfo,
    ChannelInfo,
    HoldersInfo,
    OutgoingInfo,
    ProbeInfo,
    RepairInfo,
    RequestInfo,
    Snapshot,
    WaitingInfo,
)

BACKOFF_MAX: Final = 2
"""Doublings of the pause between two requests (`sync.sds.asking`)."""

T_REQ: Final = "T_req = now + T_min + hash(me, id) mod (T_max - T_min)"
T_RESP: Final = "T_resp = now + distance · hash(id) mod T_max"

SAID: Final = {
    Evidence.WROTE: "wrote it: who signed it has it",
    Evidence.NAMED: "named it: a message of theirs has its id among what it builds on",
    Evidence.SENT: "sent it to us: nobody sends what they do not have",
    Evidence.PROVED: "proved it: a reconciliation ended with the same digest on both sides,"
    " or their signed mark says that they have it, or have read it",
    Evidence.FILTER: "maybe: their filter has all bits of its id set",
}

STATES: Final = {
    Delivery.UNACKNOWLEDGED: "It is on your disk and was sent; nobody has named it yet.",
    Delivery.POSSIBLY_ACKNOWLEDGED: "Somebody's filter may hold it, which is a hint and no proof.",
    Delivery.ACKNOWLEDGED: "Somebody has named it: they have it for certain.",
    Delivery.FAILED: "It was sent several times and nobody named it; /resend tries again.",
}


def parameters_of(info: ChannelInfo) -> Parameters | None:
    """Return what the members of the channel agreed on, if this version knows it."""
    return PROFILES.get(info.profile)


def at(snapshot: Snapshot, when: Nanos) -> str:
    """Return a time of the engine on the clock, and how far it is off."""
    left = when - snapshot.now
    way = f"in {seconds(left)}" if left > 0 else "now"
    return f"{time_of_day(when)}:{when // SECOND % 60:02}, {way}"


def seconds(length: Nanos) -> str:
    """Return a length of time with milliseconds where they matter."""
    if abs(length) < 10 * SECOND:
        return f"{length / SECOND:.3f} s"
    return span(length) if length >= 120 * SECOND else f"{length / SECOND:.1f} s"


# -- the buffers ----------------------------------------------------------------------------------


def request(snapshot: Snapshot, info: ChannelInfo, one: RequestInfo) -> Detail:
    """Return why a missing message is asked for when it is."""
    repair = info.repair
    assert repair is not None
    facts = [
        T_REQ,
        *_t_max(info, repair),
        *request_draw(snapshot.me, one.message_id, repair.t_min, repair.t_max),
    ]
    if one.asked:
        doubled = min(one.asked, BACKOFF_MAX)
        pause = ((1 << doubled) - 1) * repair.t_max
        facts.append(
            f"asked for {times(one.asked)}, so it waits (2^{doubled} - 1) · T_max = "
            f"{seconds(pause)} longer, until every answer may have come"
        )
    facts.append(f"T_req: {at(snapshot, one.t_req)}")
    facts.append(f"id {one.message_id}")
    facts.append(f"named by {name_of(snapshot, one.namer)}, in {clean_text(one.named_by)[:64]}")
    if one.waiters:
        wait = "message waits" if one.waiters == 1 else "messages wait"
        facts.append(f"{one.waiters:,} {wait} for it")
    here = bool(info.peers)
    when = f"we ask in {seconds(one.t_req - snapshot.now)}" if here else "nobody is here to ask"
    return Detail(
        f"{short_id(one.message_id)}: to request",
        "Somebody named this message and it has not come. Each of us waits another time before "
        f"asking, so that one asks for all: {when}, unless it comes or somebody asks before.",
        tuple(facts),
    )


def request_draw(me: PeerId, message_id: MessageId, t_min: Nanos, t_max: Nanos) -> list[str]:
    """Return how long `me` waits before asking for a message, step by step."""
    spread = max(1, (t_max - t_min) // MILLISECOND)
    hashed = digest(me + message_id)
    drawn = hashed % spread
    return [
        f"hash({me[:6]}…, {short_id(message_id)}…) = {_hex(hashed)}",
        f"{_hex(hashed)} mod {spread:,} ms = {drawn:,} ms",
        f"T_min {seconds(t_min)} + {drawn:,} ms = {seconds(t_min + drawn * MILLISECOND)}",
    ]


def answer(snapshot: Snapshot, info: ChannelInfo, one: AnswerInfo) -> Detail:
    """Return why somebody's request is answered when it is."""
    repair = info.repair
    assert repair is not None
    facts = [T_RESP, "distance = hash(me) xor hash(sender)", *_t_max(info, repair)]
    if one.sender == snapshot.me:
        facts.append("we wrote it: distance 0, so T_resp is now")
    elif one.sender is not None:
        facts += answer_draw(snapshot.me, one.sender, one.message_id, repair.t_max)
    if repair.groups > 1:
        facts.append(
            f"{repair.groups:,} response groups: we may answer because hash(me, id) and "
            f"hash(sender, id) are equal mod {repair.groups:,}, or it was asked for again"
        )
    facts += [f"T_resp: {at(snapshot, one.t_resp)}", f"id {one.message_id}"]
    asker = name_of(snapshot, one.requester)
    return Detail(
        f"{short_id(one.message_id)}: to answer",
        f"{asker} asks for a message that we have. Everybody who has it waits another time, its "
        "author least; whoever hears an answer gives none. So it is answered once.",
        tuple(facts),
    )


def answer_draw(who: PeerId, sender: PeerId, message_id: MessageId, t_max: Nanos) -> list[str]:
    """Return how long `who` waits before answering for a message of `sender`, step by step."""
    whole = max(1, t_max // MILLISECOND)
    distance, hashed = digest(who) ^ digest(sender), digest(message_id)
    base = distance * hashed % whole
    step = math.gcd(hashed, whole)
    own = digest(who + message_id) % step
    return [
        f"hash({who[:6]}…) xor hash({sender[:6]}…) = {_hex(distance)}",
        f"hash({short_id(message_id)}…) = {_hex(hashed)}",
        f"{_hex(distance)} · {_hex(hashed)} mod {whole:,} ms = {base:,} ms",
        (
            f"and {own:,} ms of one's own, below gcd(hash(id), T_max) = {step:,} ms, so that "
            "no two answer at once"
        ),
    ]


def outgoing(snapshot: Snapshot, info: ChannelInfo, one: OutgoingInfo) -> Detail:
    """Return how sure we are of an own message, and when it is sent again."""
    facts: list[str] = []
    terms = parameters_of(info)
    if terms is not None:
        wait = terms.resend_after << min(one.attempts, terms.resend_max)
        formula = f"next resend = {seconds(terms.resend_after)} · 2^resent"
        values = f"{seconds(terms.resend_after)} · 2^{min(one.attempts, terms.resend_max)}"
        if one.delivery is Delivery.POSSIBLY_ACKNOWLEDGED:
            wait *= terms.possibly_factor
            formula += f" · {terms.possibly_factor} (maybe received)"
            values += f" · {terms.possibly_factor}"
        facts += [formula, f"{values} = {seconds(wait)} after it was sent last"]
        facts.append(f"given up after {terms.resend_max} resends, if no filter has it either")
    facts.append(f"resent {times(one.attempts)} so far" if one.attempts else "not resent so far")
    if one.resend_at is not None:
        facts.append(f"sent again: {at(snapshot, one.resend_at)}")
    elif one.delivery is not Delivery.FAILED:
        facts.append("nobody is here: it goes out when somebody appears")
    if one.possibly_by and info.bloom is not None:
        names = ", ".join(name_of(snapshot, peer) for peer in one.possibly_by)
        chance = percent(info.bloom.false_positives)
        facts.append(f"in the filter of {names}; each is wrong with a chance of about {chance}")
    facts.append(f"id {one.message_id}")
    return Detail(
        f"{short_id(one.message_id)}: {one.delivery.value}", STATES[one.delivery], tuple(facts)
    )


def waiting(snapshot: Snapshot, info: ChannelInfo, one: WaitingInfo) -> Detail:
    """Return what a message is held back for, and until when."""
    terms, repair = parameters_of(info), info.repair
    facts: list[str] = []
    if terms is not None and repair is not None:
        window = Window.of(terms, repair.participants)
        facts += [
            f"shown anyway after max({span(terms.gap_after)}, {GAP_WINDOWS} · T_max)",
            (
                f"max({span(terms.gap_after)}, {GAP_WINDOWS} · {seconds(window.t_max)}) = "
                f"{span(window.gap_after)}"
            ),
            (
                f"a missing one is asked for max({span(terms.lost_after)}, "
                f"{LOST_WINDOWS} · T_max) = {span(window.lost_after)} long"
            ),
        ]
    facts.append(f"shown anyway: {at(snapshot, one.give_up_at)}")
    facts += [f"lacks {parent}" for parent in one.unmet]
    facts.append(f"id {one.message_id}")
    author = name_of(snapshot, one.author)
    return Detail(
        f"{short_id(one.message_id)}: waiting for {count(len(one.unmet), 'parent')}",
        f"{author} had read what this message builds on, and we have not: it is held back so that "
        "nobody reads an answer before the question. If that does not come, a gap is shown.",
        tuple(facts),
    )


def lost(info: ChannelInfo) -> Detail:
    """Return what it means that messages are given up."""
    return Detail(
        f"{info.lost:,} given up as lost",
        "They were named, asked for many times, and nobody here had them. A line in the chat marks "
        "each place; /sync looks again, and so does everybody new who comes.",
        tuple(f"id {message_id}" for message_id in info.lost_ids),
    )


def parked(info: ChannelInfo, message_id: MessageId | None = None) -> Detail:
    """Return why messages of the future are set aside."""
    facts = (f"id {message_id}",) if message_id is not None else ()
    return Detail(
        "Stamped in the future",
        "The time in them is ahead of what most clocks here say. They are kept, and take their "
        "place when that time comes; one of yours can be written anew with /resend.",
        (f"{info.parked:,} of them, {len(info.parked_own):,} yours", *facts),
    )


def clock(snapshot: Snapshot) -> Detail:
    """Return what our clock is for, and what was made of the others'."""
    said = snapshot.clock
    facts = [
        f"after this program's release and before 2100: {'yes' if said.is_clock else 'no'}",
        f"synchronised (ntp_adjtime): {'yes' if said.synchronised else 'no, or unknown'}",
        f"what we write is stamped {said.moved_ns / SECOND:+.3f} s off it",
        f"answer: {said.answer.value}",
    ]
    if said.question is not None:
        facts += clocks.in_words(snapshot, said.question)
    return Detail(
        "This computer's clock",
        "It stamps what we write, and judges what is stamped over 5 minutes ahead. Who is "
        "verified, or was met in an earlier run over a day ago, has a vote on it; others only "
        "where nobody of these is here, one for each address. No vote moves it by over 2 minutes "
        "unasked.",
        tuple(facts),
    )


def sync_message(snapshot: Snapshot, info: ChannelInfo) -> Detail:
    """Return when the next sync message is sent."""
    facts: list[str] = []
    terms = parameters_of(info)
    if terms is not None:
        low, high = terms.acknowledge_within
        facts.append(f"owing an acknowledgement: drawn from {seconds(low)} to {seconds(high)}")
        low, high = terms.idle_within
        facts.append(
            f"owing none: drawn from {seconds(low)} to {seconds(high)}, doubling each time up to "
            f"{seconds(terms.idle_max)}"
        )
    if info.next_sync_at is not None:
        facts.append(f"next: {at(snapshot, info.next_sync_at)}")
    return Detail(
        "Next sync message",
        "When nobody writes, each of us says now and then which messages are known, so that the "
        "others notice what they lack. Whoever hears one that says as much is silent.",
        tuple(facts),
    )


def longest_wait(snapshot: Snapshot) -> Detail:
    """Return what the longest wait means."""
    return Detail(
        "Longest wait of the screen",
        "Machines and paints take turns, in slices of some 10 ms, and keys wait while one runs. "
        "This is the longest wait since the network was there.",
        (milliseconds(snapshot.longest_block_ns),),
    )


# -- the filter -----------------------------------------------------------------------------------


def bloom(one: BloomInfo) -> Detail:
    """Return how often the filter is wrong, by the formula and as it is filled now."""
    return Detail(
        "The filter of this channel",
        "It goes out with each message and says which ids we have, in few bits. A clear bit means "
        "surely not; all bits set means maybe, because other ids may have set them.",
        (
            f"n {one.count:,} ids of at most {one.capacity:,}",
            f"m {one.bits:,} bits, {size((one.bits + 7) // 8)}; k {one.hashes} bits an id",
            *false_maybe(one),
            f"as filled now: fill^k = {one.fill:.4f}^{one.hashes} = {percent(one.false_positives)}",
            f"rolls over in {one.capacity - one.count:,} ids: the older half leaves",
        ),
    )


def false_maybe(one: BloomInfo) -> list[str]:
    """Return the chance of a false maybe: the formula, and with the values of a filter."""
    predicted = false_positive_rate(one.count, one.bits, one.hashes)
    return [
        "chance of a false maybe = (1 - e^(-k·n/m))^k",
        (f"(1 - e^(-{one.hashes}·{one.count:,}/{one.bits:,}))^{one.hashes} = {percent(predicted)}"),
    ]


def false_positive_rate(ids: int, bits: int, hashes: int) -> float:
    """Return (1 - e^(-k·n/m))^k, the chance of a false maybe."""
    return float(-math.expm1(-hashes * ids / max(bits, 1))) ** hashes


def probe(one: ProbeInfo, info: BloomInfo | None) -> Detail:
    """Return what the filter says of an id, bit by bit."""
    clear = [position for position, is_set in one.bits if not is_set]
    if not one.maybe:
        plain = (
            f"No: {count(len(clear), 'bit')} of it is clear, so this id is surely not in the "
            "filter. It may have left when the filter rolled over, or never been here."
        )
    elif one.held:
        plain = "Yes, maybe: all of its bits are set. And it is true: the message is here."
    else:
        plain = "Yes, maybe: all of its bits are set. But it is wrong: no such message is here."
    bits = [f"bit {position:,}: {'set' if is_set else 'clear'}" for position, is_set in one.bits]
    chance = [] if info is None else [f"chance of a false maybe {percent(info.false_positives)}"]
    position = "position n = (|murmur3(id)| + n · |murmur3(id + ' b')|) mod m"
    shown = clean_text(one.message_id)
    return Detail(f"Test of {shown[:16]}", plain, (position, *bits, *chance, f"id {shown}"))


def holders(snapshot: Snapshot, info: ChannelInfo, one: HoldersInfo) -> Detail:
    """Return who has a message, each with how we know."""
    facts = [
        f"{name_of(snapshot, peer)} {SAID[how]}" for peer, how in one.holders if peer != snapshot.me
    ]
    if info.bloom is not None and any(how is Evidence.FILTER for _, how in one.holders):
        chance = percent(info.bloom.false_positives)
        facts.append(f"a filter is wrong with a chance of about {chance}")
    facts.append(f"id {one.message_id}")
    whose = "You wrote this message." if one.own else "Somebody else wrote this message."
    return Detail(
        f"{short_id(one.message_id)}: who has it",
        f"{whose} Each name stands with how we know; nobody is believed to have it without a "
        "reason, and what was known before this start is not remembered.",
        tuple(facts),
    )


PERCENT_MIN: Final = 0.0001
PERCENT_WHOLE: Final = 0.1
"""Shares from which on a percentage needs no decimals."""


def percent(share: float) -> str:
    """Return a part of 1 as a percentage, with decimals where it is small."""
    if 0 < share < PERCENT_MIN:
        return f"under {PERCENT_MIN:.2%}"
    return f"{share:.0%}" if share >= PERCENT_WHOLE else f"{share:.2%}"


def _t_max(info: ChannelInfo, repair: RepairInfo) -> list[str]:
    terms = parameters_of(info)
    if terms is None or not terms.t_max_per_responder:
        return [f"T_min {seconds(repair.t_min)}, T_max {seconds(repair.t_max)}"]
    return [
        (
            f"T_min {seconds(repair.t_min)}, T_max max({seconds(terms.t_max)}, "
            f"{terms.t_max_per_responder / SECOND:g} s · {repair.participants:,} people / "
            f"{count(repair.groups, 'group')}) = {seconds(repair.t_max)}"
        )
    ]


def _hex(number: int) -> str:
    return f"0x{number:016x}"
