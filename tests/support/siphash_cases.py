#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a thousand lines of key, key, message and hash, in hexadecimal, of which
the hash is Python's own: SipHash-1-3 since Python 3.11, with a key that it makes of
PYTHONHASHSEED, which must be the argument.
"""

import struct
import sys


def key(seed):
    """_Py_HashSecret, as Python/bootstrap_hash.c fills it."""
    if seed == 0:
        return (0, 0)
    octets = bytearray()
    for _ in range(16):
        seed = (seed * 214013 + 2531011) & 0xFFFFFFFF
        octets.append(seed >> 16 & 0xFF)
    return struct.unpack("<2Q", octets)


def main():
    if sys.hash_info.algorithm != "siphash13":
        sys.exit(f"siphash_cases.py: error: this Python hashes by {sys.hash_info.algorithm}; 3.11 or later is needed")
    k0, k1 = key(int(sys.argv[1]))
    message = 0
    for i in range(1000):
        digest = hash(struct.pack("<Q", message)) & (2**64 - 1)
        print(f"{k0:016x} {k1:016x} {message:016x} {digest:016x}")
        # Small ones, then any.
        message = i + 1 if i < 300 else (message * 6364136223846793005 + 1442695040888963407) & (2**64 - 1)


main()
