// SPDX-License-Identifier: MIT
// A program may have functions with the names of libc's, all of them entries, that
// do as they like: the runtime does not ask them what the environment says.
// RUN: %cc -O1 -fno-builtin '-fplugin-arg-kstackrand-entry=*' -I%include %s %libs -o %t
// RUN: for word in off=0 max=4080 fixed=48=48 ,,fixed=16,=16 atfork,max=4080; do \
// RUN:   env KSTACKRAND=${word%=*} %run_bare %t ${word##*=} || { echo "$word"; exit 1; }; \
// RUN: done
// RUN: env KSTACKRAND=offside %run_bare %t random 2>&1 | grep '^kstackrand: error:'
#include <kstackrand/kstackrand.h>
#include <stddef.h>

#define OWN(type, name, ...)                                                   \
	type name(__VA_ARGS__)                                                 \
	{                                                                      \
		__builtin_trap();                                              \
	}

OWN(char *, getenv, const char *name)
OWN(size_t, strcspn, const char *text, const char *reject)
OWN(size_t, strspn, const char *text, const char *accept)
OWN(size_t, strlen, const char *text)
OWN(char *, strchr, const char *text, int character)
OWN(int, strcmp, const char *one, const char *other)
OWN(int, strncmp, const char *one, const char *other, size_t size)
OWN(int, memcmp, const void *one, const void *other, size_t size)
OWN(void *, memcpy, void *to, const void *from, size_t size)
OWN(unsigned long, strtoul, const char *text, char **end, int base)
OWN(long, write, int file, const void *bytes, size_t size)

size_t __kstackrand_offset(void);
extern void _exit(int);

static size_t number(const char *text)
{
	size_t result = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		result = result * 10 + (size_t)(*text - '0');
	return result;
}

int main(int argc, char **argv)
{
	if (argv[argc - 1][0] == 'r')
		_exit(kstackrand_get_mode() != KSTACKRAND_RANDOM);
	for (int i = 0; i < 100; i++)
		if (__kstackrand_offset() != number(argv[1]))
			_exit(1);
	_exit(0);
}
