"""Sketches: what differs between two sets of ids, from a few symbols that both sides keep anyway.

A rateless invertible Bloom lookup table (Yang, Gilad, Alizadeh: "Practical Rateless Set
Reconciliation", 2024) over the Waku hashes of a channel. Exact to the bit, all numbers
little-endian and all sums of words modulo 2^64:

1. A channel has a key of 32 bytes, four words k0 to k3 of 64 bits (`sync.sketch.key`). An id is its
   hash, four words h0 to h3.
2. `mix(x)`: x ^= x >> 33; x *= 0xff51afd7ed558ccd; x ^= x >> 33; x *= 0xc4ceb9fe1a85ec53;
   x ^= x >> 33. The checksum of an id is c4, where c0 = k1 and c(n+1) = mix(c(n) ^ h(n)).
3. The places of an id rise from i = 0. Its generator begins with p = mix(h0 ^ k0) | 1; the next
   place follows from p *= 0xda942042e4dd58b5, r = p >> 32 and
   i += max(1, ceil((i + 1.5) * (65536 / sqrt(r + 1) - 1))), in doubles of IEEE 754, each step
   rounded to the nearest. So an id is in place i with a chance of 1 / (1 + i/2).
4. Symbol i has the XOR of the hashes of the ids in place i, the XOR of their checksums, and their
   number. The symbols of n places are the first n of any longer list: a prefix.
5. The difference of two symbols, theirs less ours, is of the ids that one side has alone. One whose
   number is 1 or -1 and whose checksum is that of its sum is *pure*: the sum is an id of theirs,
   or ours. Taken out of all its places, it makes others pure: a wave (`peeling`). Once symbol 0 is
   empty all is known.
6. On the wire a list of symbols is their sums, 32 bytes each; their checksums, 8 bytes each; and
   for each its number less what is expected, 2n // (i + 2) of n ids, as a varint of seven bits a
   byte, the low ones first, zigzag: d becomes 2d, or -2d - 1 (`symbols_wire`).

A checksum is no signature: whoever knows the key can make ids that lie about each other. Then
symbols do not decode, or the check after the session (`sync.check`) finds what they hid.

`key`, `places` and `symbols` are points 1 to 4, `peeling` and `estimate` the differences,
`symbols_wire` and `messages` the bytes, `prefix` the symbols that a channel keeps, `lookup` ids by
their hashes, `session` the exchange.
"""
