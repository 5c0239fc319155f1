/* SPDX-License-Identifier: MIT */
/*
 * The note of an object, as text for the assembler.
 *
 * Where a function begins and where its shift ends is written as a distance from
 * the note, which no loader has to adjust. The function's own symbol will not do
 * for that in a shared library, where another may take its place: hence a local
 * label that is set to it.
 *
 * SHF_LINK_ORDER ("o") ties a note to the section of its function: what drops the
 * one drops the other, and the note keeps nothing alive. In a kernel, whose linker
 * script puts all notes into one section, there is none of it: linkers before
 * binutils 2.36 take no mixture, and nobody drops a system call.
 */
#include "note.h"

#include "policy_internal.h"

#include "kstackrand/abi.h"
#include "kstackrand/version.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Local labels; the number is the template's own. */
#define BEGIN ".Lkstackrand_begin_%="
#define SHIFTED ".Lkstackrand_shifted_%="

/* Up to the end of what notes of all types have. */
static char *head(const struct kstackrand_note *note, unsigned type)
{
	return kstackrand_format("\t.balign 4\n"
	                         "\t.4byte %zu, 772f - 771f, %u\n"
	                         "\t.asciz \"" KSTACKRAND_NOTE_OWNER "\"\n"
	                         "\t.balign 4\n"
	                         "771:\t.byte %u, %u, %u, %u, %u, %u, %u, %u\n",
	                         sizeof(KSTACKRAND_NOTE_OWNER), type, KSTACKRAND_NOTE_FORMAT,
	                         note->model, note->rng, note->bits,
	                         (note->shifts ? KSTACKRAND_NOTE_SHIFTS : 0) |
	                                 (note->reseeds ? KSTACKRAND_NOTE_RESEEDS : 0),
	                         KSTACKRAND_VERSION_MAJOR, KSTACKRAND_VERSION_MINOR,
	                         KSTACKRAND_VERSION_PATCH);
}

#define TAIL                                                                                       \
	"772:\t.balign 4\n"                                                                        \
	"\t.popsection\n"

/* What a string of the assembler's holds. Characters that mean something to it,
 * or to a template, become numbers. */
static char *quote(const char *text)
{
	char *quoted = kstackrand_resize(NULL, 4 * strlen(text) + 1);
	char *end = quoted;

	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (isprint(byte) && byte < 0x80 && !strchr("\"\\%{|}", byte))
			*end++ = (char)byte;
		else
			end += sprintf(end, "\\%03o", byte);
	}
	*end = '\0';
	return quoted;
}

/* A symbol in a template. */
static char *spell(const char *symbol)
{
	char *spelled = kstackrand_resize(NULL, 2 * strlen(symbol) + sizeof("\"\""));
	char *end = spelled;

	*end++ = '"';
	for (; *symbol; symbol++) {
		if (strchr("%{|}", *symbol))
			*end++ = '%';
		*end++ = *symbol;
	}
	memcpy(end, "\"", sizeof("\""));
	return spelled;
}

/* The section of an entry's note, from its flags on. */
static const char *section(const struct kstackrand_note *note, enum kstackrand_note_group group)
{
	if (note->model == KSTACKRAND_MODEL_LINUX)
		return "\"a\",%%note";
	if (group == KSTACKRAND_NOTE_GROUP_OWN)
		return "\"aoG\",%%note," SHIFTED "," SHIFTED;
	return "\"ao?\",%%note," SHIFTED;
}

char *kstackrand_entry_note(const struct kstackrand_note *note, const char *operand,
                            enum kstackrand_note_group group)
{
	char *function = operand ? kstackrand_format("%s", operand) : spell(note->symbol);
	char *settings = head(note, KSTACKRAND_NOTE_ENTRY);
	char *symbol = quote(note->symbol);
	char *text =
		kstackrand_format("\n%2$s:\n"
	                          "\t.set %1$s, %3$s\n"
	                          "\t.pushsection " KSTACKRAND_NOTE_SECTION ",%4$s\n"
	                          "%5$s"
	                          "\t.8byte %1$s - .\n"
	                          "\t.8byte %2$s - .\n"
	                          "\t.asciz \"%6$s\"\n" TAIL,
	                          BEGIN, SHIFTED, function, section(note, group), settings, symbol);

	free(function);
	free(settings);
	free(symbol);
	return text;
}

char *kstackrand_refusal_note(const struct kstackrand_note *note, const char *reason)
{
	char *settings = head(note, KSTACKRAND_NOTE_REFUSED);
	char *symbol = quote(note->symbol);
	char *why = quote(reason);
	char *text = kstackrand_format("\t.pushsection " KSTACKRAND_NOTE_SECTION ",\"a\",%%note\n"
	                               "%s"
	                               "\t.asciz \"%s\"\n"
	                               "\t.asciz \"%s\"\n" TAIL,
	                               settings, symbol, why);

	free(settings);
	free(symbol);
	free(why);
	return text;
}
