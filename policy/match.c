/* SPDX-License-Identifier: MIT */
/*
 * Globs against the names of a function: the assembler name, and for C++ the
 * demangled one, with and without its parameter list.
 *
 * fnmatch() of glibc and of musl goes back to the last star only, so a match
 * costs at most the product of both lengths and no stack that grows with them.
 * It does depend on the locale, which a build must not.
 */
#include "policy_internal.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Copies `pattern` with every run of stars made one star, which means the same;
 * `\*` is an escaped star and stays. NULL when a backslash escapes nothing. */
static char *collapse_stars(const char *pattern)
{
	char *result = kstackrand_resize(NULL, strlen(pattern) + 1);
	char *out = result;

	while (*pattern) {
		if (*pattern == '*' && pattern[1] == '*') {
			pattern++;
			continue;
		}
		if (*pattern == '\\') {
			*out++ = *pattern++;
			if (!*pattern) {
				free(result);
				return NULL;
			}
		}
		*out++ = *pattern++;
	}
	*out = '\0';
	return result;
}

const char *kstackrand_add_glob(struct glob_list *list, const char *key, const char *pattern)
{
	struct shown shown;
	char *collapsed = collapse_stars(pattern);

	if (!collapsed)
		return "must not end in a backslash";
	if (strlen(collapsed) > KSTACKRAND_GLOB_MAX) {
		free(collapsed);
		return "must not be longer than 1024 bytes";
	}
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : 8;
		list->globs = kstackrand_resize(list->globs, list->capacity * sizeof(*list->globs));
	}
	list->globs[list->count++] = (struct glob){
		.pattern = collapsed,
		.because = kstackrand_format(
			"%s '%s'", key, kstackrand_show(&shown, pattern, KSTACKRAND_SHOWN_MAX)),
		.wildcard = strpbrk(collapsed, "*?[\\") != NULL,
	};
	return NULL;
}

void kstackrand_free_globs(struct glob_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->globs[i].pattern);
		free(list->globs[i].because);
	}
	free(list->globs);
}

/*
 * Demangled names, as libiberty and LLVM write them:
 *
 *     ns::Server::handle(int) const &
 *     (anonymous namespace)::f(void (*)(int)) [clone .cold]
 *     ns::f[abi:cxx11](int) (.llvm.123)
 *     main::{lambda(int)#1}::operator()(int) const
 *     void (*ns::get<int>(char))(int)           a template, with its return type
 *
 * They come from the compiler, but also from whoever wrote the source: what
 * follows must hold for any bytes.
 */

/* A piece of a demangled name. */
struct span {
	const char *begin;
	const char *end;
};

static bool ends_with(const struct span *span, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(span->end - span->begin) >= length &&
	       memcmp(span->end - length, word, length) == 0;
}

static bool is_identifier(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The same, and `word` is no mere tail of a longer one. */
static bool ends_with_word(const struct span *span, const char *word)
{
	const char *start = span->end - strlen(word);

	return ends_with(span, word) && (start == span->begin || !is_identifier(start[-1]));
}

/* Where the bracket that closes at the end of `span` opens, or NULL. */
static const char *find_opening(const struct span *span, char open, char close)
{
	size_t depth = 0;

	for (const char *c = span->end; c > span->begin; c--) {
		if (c[-1] == close)
			depth++;
		else if (c[-1] == open && --depth == 0)
			return c - 1;
	}
	return NULL;
}

/* Takes a mark in brackets, such as "[clone .cold]", off the end. */
static bool cut_mark(struct span *span, char open, char close, const char *start)
{
	const char *opening;

	if (span->end == span->begin || span->end[-1] != close)
		return false;
	opening = find_opening(span, open, close);
	if (!opening || strncmp(opening, start, strlen(start)) != 0)
		return false;
	/* LLVM's mark for a clone is "(.cold)"; "(...)" are parameters. */
	if (strncmp(opening, "(..", 3) == 0)
		return false;
	span->end = opening;
	return true;
}

static bool cut_word(struct span *span, const char *word)
{
	if (!ends_with_word(span, word))
		return false;
	span->end -= strlen(word);
	return true;
}

/* Takes off what may follow a parameter list. */
static void cut_qualifiers(struct span *span)
{
	bool more = true;

	while (more) {
		while (ends_with(span, " ") || ends_with(span, "&"))
			span->end--;
		more = cut_word(span, "const") || cut_word(span, "volatile") ||
		       cut_word(span, "noexcept") || cut_mark(span, '[', ']', "[clone ") ||
		       cut_mark(span, '[', ']', "[abi:") || cut_mark(span, '(', ')', "(.");
	}
}

/* `span` ends with the declarator in parentheses of a function that returns a
 * pointer to a function, "void (*get<int>(char))": makes it "get<int>(char)".
 * Leaves alone what is no such thing, "X::operator void (*)(int)". */
static bool enter_declarator(struct span *span)
{
	const char *opening = find_opening(span, '(', ')');
	struct span inner;

	if (!opening)
		return false;
	inner = (struct span){opening + 1, span->end - 1};
	/* A pointer to member has the class in front of the star. */
	inner.begin += strcspn(inner.begin, "*&(<");
	if (inner.begin >= inner.end || (*inner.begin != '*' && *inner.begin != '&'))
		return false;
	inner.begin += strspn(inner.begin, "*& ");
	if (inner.begin >= inner.end)
		return false;
	*span = inner;
	return true;
}

/* A template's name comes with its return type: makes "unsigned long twice<int>"
 * "twice<int>". "X::operator std::vector<int>" is a name as it stands. */
static void cut_return_type(struct span *span)
{
	size_t depth = 0;

	if (!ends_with(span, ">"))
		return;
	for (const char *c = span->end; c > span->begin; c--) {
		if (strchr(">)]}", c[-1])) {
			depth++;
		} else if (strchr("<([{", c[-1])) {
			if (depth-- == 0)
				return;
		} else if (c[-1] == ' ' && depth == 0) {
			struct span before = {span->begin, c - 1};

			if (!ends_with_word(&before, "operator"))
				span->begin = c;
			return;
		}
	}
}

/* Makes `span` the name alone. False when it has no parameter list. */
static bool cut_parameters(struct span *span)
{
	/* A level for each function pointer in the return type; the limit keeps
	 * the time within a multiple of the length. */
	for (int level = 0; level < 8; level++) {
		const char *opening;
		struct span name;

		cut_qualifiers(span);
		if (!ends_with(span, ")"))
			return false;
		opening = find_opening(span, '(', ')');
		if (!opening)
			return false;
		name = (struct span){span->begin, opening};
		/* The parentheses of operator() itself. */
		if (ends_with_word(&name, "operator"))
			return false;
		*span = name;
		if (!ends_with(span, ")") || !enter_declarator(span)) {
			while (cut_mark(span, '[', ']', "[abi:"))
				;
			cut_return_type(span);
			return span->begin < span->end;
		}
	}
	return false;
}

/* The name without its parameter list, in memory of its own; NULL when it has
 * no such list. */
static char *bare_name(const char *demangled)
{
	struct span span = {demangled, demangled + strlen(demangled)};
	char *bare;
	size_t length;

	if (!cut_parameters(&span))
		return NULL;
	length = (size_t)(span.end - span.begin);
	bare = kstackrand_resize(NULL, length + 1);
	memcpy(bare, span.begin, length);
	bare[length] = '\0';
	return bare;
}

void kstackrand_names_init(struct names *names, const struct kstackrand_function *function)
{
	names->assembler = function->assembler_name;
	/* The mark of a name that was given in the source with asm("name") and
	 * that the compiler must not decorate: '*' in GCC, \1 in LLVM. */
	if (names->assembler && (names->assembler[0] == '*' || names->assembler[0] == '\1'))
		names->assembler++;
	names->demangled = function->demangled_name;
	names->bare = names->demangled ? bare_name(names->demangled) : NULL;
}

void kstackrand_names_free(struct names *names)
{
	free(names->bare);
}

static bool matches(const char *pattern, const char *name)
{
	return name && fnmatch(pattern, name, 0) == 0;
}

static const struct glob *find_in_c_locale(const struct glob_list *list, const struct names *names)
{
	const struct glob *found = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct glob *glob = &list->globs[i];

		if (found && glob->wildcard)
			continue;
		if (matches(glob->pattern, names->assembler) ||
		    matches(glob->pattern, names->demangled) ||
		    matches(glob->pattern, names->bare)) {
			if (!glob->wildcard)
				return glob;
			found = glob;
		}
	}
	return found;
}

const struct glob *kstackrand_find_glob(const struct kstackrand_policy *policy,
                                        const struct glob_list *list, const struct names *names)
{
	locale_t before = uselocale(policy->c_locale);
	const struct glob *found = find_in_c_locale(list, names);

	uselocale(before);
	return found;
}
