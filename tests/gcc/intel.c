// SPDX-License-Identifier: MIT
// The assembly of the prologue has both spellings.
// REQUIRES: x86_64
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: %cc -O2 -masm=intel '-fplugin-arg-kstackrand-entry=entry_*' -I%support %source/tests/both/cells.c %t.witness.o %libs -o %t
// RUN: %run %t
