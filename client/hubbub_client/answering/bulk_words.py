"""This file makes many random bytes at once: AES in counter mode, under a fresh key for each call.

The key comes from the operating system and is forgotten with the call, so there is no state here either: a
forked child and its parent draw different keys. Without the extra "fast" the bytes themselves come from the
operating system, which takes up to 16 times as long.
"""

import os

try:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256
    from cryptography.hazmat.primitives.ciphers.modes import CTR
except ImportError:
    IS_FAST = False
else:
    IS_FAST = True


def bulk_words(size: int) -> bytes:
    """Return ``size`` fresh bytes.

    The counter may start at 0 under every key, because no key is used twice.
    """
    if not IS_FAST:
        return os.urandom(size)
    return Cipher(AES256(os.urandom(32)), CTR(bytes(16))).encryptor().update(bytes(size))
