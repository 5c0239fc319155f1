/* SPDX-License-Identifier: MIT */
/*
 * The prologue itself, its check of the seal included, for draws.c: compiled with
 * the plugin, once for each of its generators, which are chosen by file.
 *
 *   -DCALL=NAME     the function's name
 */
void CALL(void);

__attribute__((noinline)) void CALL(void)
{
	__asm__ volatile("" : : : "memory");
}
