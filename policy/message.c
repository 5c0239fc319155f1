/* SPDX-License-Identifier: MIT */
/*
 * Messages. Every error is one line that names where the mistake stands. Names
 * and values come from outside: a stray newline or terminal escape in them must
 * not become part of the compiler's output.
 */
#include "policy_internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void kstackrand_out_of_memory(void)
{
	fputs("kstackrand: error: out of memory\n", stderr);
	exit(1);
}

void *kstackrand_resize(void *memory, size_t size)
{
	memory = realloc(memory, size);
	if (!memory)
		kstackrand_out_of_memory();
	return memory;
}

char *kstackrand_format(const char *format, ...)
{
	char *text;
	va_list arguments;

	va_start(arguments, format);
	int length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		kstackrand_out_of_memory();
	return text;
}

/* The UTF-8 character at `bytes`, and its length in bytes; 0 when it is none. */
static size_t decode(const unsigned char *bytes, uint32_t *character)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length;

	if (bytes[0] < 0x80) {
		*character = bytes[0];
		return 1;
	}
	if (bytes[0] >= 0xc2 && bytes[0] <= 0xdf)
		length = 2;
	else if (bytes[0] >= 0xe0 && bytes[0] <= 0xef)
		length = 3;
	else if (bytes[0] >= 0xf0 && bytes[0] <= 0xf4)
		length = 4;
	else
		return 0;

	*character = bytes[0] & (0x7fU >> length);
	/* The zero byte at the end is no continuation, so this stays inside. */
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		*character = *character << 6 | (bytes[i] & 0x3fU);
	}
	if (*character < smallest[length] || *character > 0x10ffff ||
	    (*character >= 0xd800 && *character <= 0xdfff))
		return 0;
	return length;
}

/* Control characters, and those of Unicode that break the line or turn the
 * direction of what follows. */
static bool is_printable(uint32_t character)
{
	return !(character < 0x20 || (character >= 0x7f && character <= 0x9f) ||
	         (character >= 0x2028 && character <= 0x202e) ||
	         (character >= 0x2066 && character <= 0x2069));
}

const char *kstackrand_show(struct shown *shown, const char *text, size_t limit)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t used = 0;

	while (*bytes) {
		char piece[sizeof("\\xNN")];
		uint32_t character;
		size_t length = decode(bytes, &character);
		size_t width = length;

		if (length && is_printable(character)) {
			memcpy(piece, bytes, length);
		} else {
			/* One byte at a time: the rest is then no UTF-8 either. */
			length = 1;
			width = sizeof(piece) - 1;
			snprintf(piece, sizeof(piece), "\\x%02x", bytes[0]);
		}
		if (used + width > limit) {
			memcpy(shown->text + used, "...", 3);
			used += 3;
			break;
		}
		memcpy(shown->text + used, piece, width);
		used += width;
		bytes += length;
	}
	shown->text[used] = '\0';
	return shown->text;
}

bool kstackrand_fail(struct kstackrand_error *error, const struct source *source,
                     const char *format, ...)
{
	struct shown name;
	size_t used = 0;
	va_list arguments;

	kstackrand_show(&name, source->name, KSTACKRAND_SHOWN_MAX);
	switch (source->kind) {
	case SOURCE_OPTION:
		snprintf(error->text, sizeof(error->text), "option '%s': ", name.text);
		break;
	case SOURCE_FILE:
		snprintf(error->text, sizeof(error->text),
		         "policy file '%s', line %zu: ", name.text, source->line);
		break;
	case SOURCE_PRESET:
		snprintf(error->text, sizeof(error->text), "preset '%s', line %zu: ", name.text,
		         source->line);
		break;
	}
	used = strlen(error->text);
	va_start(arguments, format);
	vsnprintf(error->text + used, sizeof(error->text) - used, format, arguments);
	va_end(arguments);
	return false;
}
