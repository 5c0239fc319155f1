/* SPDX-License-Identifier: MIT */
/*
 * A program in two halves, half_c.c and half_cpp.cpp, for builds that treat
 * them differently. Each half has an entry of its own, and one that calls into
 * the other half.
 */
#ifndef HALF_H
#define HALF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uintptr_t entry_c(void);
uintptr_t entry_cpp(void);

/** Calls back into C from an entry in C++, from which an exception comes back
 *  if `fail` is set. 0 when all went well. */
int entry_through_cpp(int fail);
void callback_c(int fail);
__attribute__((noreturn)) void throw_from_cpp(void);

#ifdef __cplusplus
}
#endif
#endif
