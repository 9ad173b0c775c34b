"""This file packs a batch for the road, in gzip that only pads: a body is as long as its batch's length says.

Nothing is compressed. Of two reports on one metric one may shrink more than the other, by what is answered in
them, and then the size of a request would tell them apart. Padding sits in gzip's "extra" field (RFC 1952,
2.3.1.1), which every decoder skips. What comes out at the other end is the batch's bytes, exactly.
"""

import struct
import zlib

LEAST = 512  # bytes; longer bodies fill the next power of two, or what can be padded towards it
_MOST_EXTRA = 65_531
_FRAME = 10 + 2 + 4 + 8  # header, length of extra, head of its one field, trailer


def pack(batch: bytes) -> bytes:
    """Return the body of a request.

    >>> import gzip
    >>> len(pack(b"batch")), gzip.decompress(pack(b"batch"))
    (512, b'batch')
    """
    stored = zlib.compress(batch, 0, wbits=-zlib.MAX_WBITS)
    size = LEAST
    while size < _FRAME + len(stored):
        size *= 2
    blank = min(size - _FRAME - len(stored), _MOST_EXTRA)
    header = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x00\xff"  # gzip, deflate, with extra; no time, no system
    extra = struct.pack("<H2sH", blank + 4, b"pd", blank) + bytes(blank)
    return header + extra + stored + struct.pack("<II", zlib.crc32(batch), len(batch) & 0xFFFFFFFF)
