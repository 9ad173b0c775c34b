"""This file packs a batch for the road: gzip, padded inside its own header, so that sizes tell little.

Padding sits in gzip's "extra" field (RFC 1952, 2.3.1.1), which every decoder skips. What comes out at the
other end is the batch's bytes, exactly.
"""

import struct
import zlib

LEAST = 512  # bytes; longer bodies fill the next power of two
_MOST_EXTRA = 65_531
_FRAME = 10 + 2 + 4 + 8  # header, length of extra, head of its one field, trailer


def pack(batch: bytes) -> bytes:
    """Return the body of a request.

    >>> import gzip
    >>> len(pack(b"batch")), gzip.decompress(pack(b"batch"))
    (512, b'batch')
    """
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflate.compress(batch) + deflate.flush()
    size = LEAST
    while size < _FRAME + len(packed):
        size *= 2
    blank = min(size - _FRAME - len(packed), _MOST_EXTRA)
    header = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x02\xff"  # gzip, deflate, with extra; no time, no system
    extra = struct.pack("<H2sH", blank + 4, b"pd", blank) + bytes(blank)
    return header + extra + packed + struct.pack("<II", zlib.crc32(batch), len(batch) & 0xFFFFFFFF)
