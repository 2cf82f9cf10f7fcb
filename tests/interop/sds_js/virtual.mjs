/**
 * The virtual world of this process: its clock and its dice, in the place of the real ones.
 *
 * Imported before the package, which so runs unmodified and yet the same way every time. Nothing
 * in its SDS part waits; a timer would be an error here, and not a test that hangs.
 */

const RealDate = globalThis.Date;
let nowMs = 0;
let dice = 0;

class VirtualDate extends RealDate {
  constructor(...values) {
    super(...(values.length > 0 ? values : [nowMs]));
  }

  static now() {
    return nowMs;
  }
}

/** Mulberry32: good enough for the random part of a sync message's id. */
function random() {
  dice = (dice + 0x6d2b79f5) | 0;
  let mixed = Math.imul(dice ^ (dice >>> 15), 1 | dice);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}

function noTimer() {
  throw new Error("the package wants a timer, and there is no real time here");
}

globalThis.Date = VirtualDate;
globalThis.setTimeout = noTimer;
globalThis.setInterval = noTimer;
Math.random = random;

/** Set the clock: milliseconds since the epoch. */
export function setNow(milliseconds) {
  nowMs = milliseconds;
}

/** Begin the dice anew. */
export function setSeed(seed) {
  dice = seed;
}
