/* SPDX-License-Identifier: MIT */
/*
 * Policy files and presets: one KEY VALUE a line, `#` for comments. Both are
 * read by the same code; a preset is a file that is already in memory.
 */
#include "policy_internal.h"

#include "presets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Ends the line before a comment: a glob may hold a '#', but not after space. */
static void cut_comment(char *line)
{
	for (char *c = line; *c; c++) {
		if (*c == '#' && (c == line || is_blank(c[-1]))) {
			*c = '\0';
			return;
		}
	}
}

static char *trim(char *line)
{
	char *end = line + strlen(line);

	while (end > line && is_blank(end[-1]))
		*--end = '\0';
	return line + strspn(line, " \t");
}

static bool parse_line(struct kstackrand_policy *policy, const struct source *source,
                       const char *text, size_t length, struct kstackrand_error *error)
{
	char line[KSTACKRAND_LINE_MAX + 1];

	if (length && text[length - 1] == '\r')
		length--;
	if (length > KSTACKRAND_LINE_MAX)
		return kstackrand_fail(error, source, "the line must not be longer than %d bytes",
		                       KSTACKRAND_LINE_MAX);
	if (memchr(text, '\0', length))
		return kstackrand_fail(error, source,
		                       "there is a NUL byte; a policy must be plain text");
	memcpy(line, text, length);
	line[length] = '\0';

	cut_comment(line);
	char *key = trim(line);
	if (!*key)
		return true;
	char *value = key + strcspn(key, " \t");
	if (*value) {
		*value++ = '\0';
		value += strspn(value, " \t");
	}
	return kstackrand_take(policy, source, key, *value ? value : NULL, error);
}

bool kstackrand_parse(struct kstackrand_policy *policy, struct source *source, const char *text,
                      size_t size, struct kstackrand_error *error)
{
	static const char byte_order_mark[] = "\xef\xbb\xbf";
	const char *end = text + size;

	if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0)
		text += 3;
	source->line = 0;
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *line_end = newline ? newline : end;

		source->line++;
		if (!parse_line(policy, source, text, (size_t)(line_end - text), error))
			return false;
		text = newline ? newline + 1 : end;
	}
	return true;
}

/* Opens a regular file. NULL, or what is wrong with it. */
static const char *open_regular(const char *path, int *fd)
{
	struct stat status;

	/* O_NONBLOCK: opening a FIFO that nobody writes to would wait for ever. */
	*fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (*fd < 0 || fstat(*fd, &status) != 0)
		return strerror(errno);
	if (S_ISDIR(status.st_mode))
		return strerror(EISDIR);
	if (!S_ISREG(status.st_mode))
		return "it must be a regular file";
	return NULL;
}

/* Reads at most `capacity` bytes; the size a file claims is not to be trusted. */
static const char *read_all(int fd, char *text, size_t capacity, size_t *size)
{
	*size = 0;
	while (*size < capacity) {
		ssize_t got = read(fd, text + *size, capacity - *size);

		if (got == 0)
			return NULL;
		if (got > 0)
			*size += (size_t)got;
		else if (errno != EINTR)
			return strerror(errno);
	}
	return "it must not be larger than 1 MiB";
}

/* Reads a file into memory, which the caller frees. NULL, or what is wrong. */
static const char *read_file(const char *path, char **text, size_t *size)
{
	int fd = -1;
	const char *problem = open_regular(path, &fd);

	*text = NULL;
	if (!problem) {
		/* One byte more, to see that there is more. */
		*text = kstackrand_resize(NULL, KSTACKRAND_FILE_MAX + 1);
		problem = read_all(fd, *text, KSTACKRAND_FILE_MAX + 1, size);
	}
	if (fd >= 0)
		close(fd);
	return problem;
}

static const struct kstackrand_preset *find_preset(const char *name)
{
	for (const struct kstackrand_preset *preset = kstackrand_presets; preset->name; preset++)
		if (strcmp(preset->name, name) == 0)
			return preset;
	return NULL;
}

/* "presets are dnsmasq, nginx", for the end of a message. */
static char *list_presets(void)
{
	char *list = NULL;

	for (const struct kstackrand_preset *preset = kstackrand_presets; preset->name; preset++) {
		char *longer =
			kstackrand_format("%s%s", list ? list : "presets are ", preset->name);
		free(list);
		list = preset[1].name ? kstackrand_format("%s, ", longer) : longer;
		if (list != longer)
			free(longer);
	}
	return list ? list : kstackrand_format("there are no presets");
}

static bool fail_with_presets(const struct source *source, const char *what, size_t limit,
                              struct kstackrand_error *error)
{
	char *list = list_presets();
	struct shown shown;

	kstackrand_fail(error, source, "%s; %s", what, kstackrand_show(&shown, list, limit));
	free(list);
	return false;
}

static bool cannot_read(const struct source *source, const char *path, const char *bare_word,
                        const char *problem, struct kstackrand_error *error)
{
	struct shown shown_path;
	struct shown shown_word;
	struct shown shown_problem;

	/* strerror() speaks the user's language, in whatever encoding. */
	kstackrand_show(&shown_problem, problem, 100);
	if (!bare_word)
		return kstackrand_fail(error, source, "cannot read policy file '%s': %s",
		                       kstackrand_show(&shown_path, path, KSTACKRAND_SHOWN_MAX),
		                       shown_problem.text);

	char *what = kstackrand_format("there is no preset '%s', and no policy file '%s': %s",
	                               kstackrand_show(&shown_word, bare_word, 60),
	                               kstackrand_show(&shown_path, path, 100), shown_problem.text);
	fail_with_presets(source, what, 200, error);
	free(what);
	return false;
}

/* A path in a policy file starts at that file's folder, so that a folder of
 * policies can be used from anywhere. */
static char *resolve(const struct source *source, const char *value)
{
	const char *slash = source->kind == SOURCE_FILE ? strrchr(source->name, '/') : NULL;

	if (!slash || value[0] == '/')
		return kstackrand_format("%s", value);
	return kstackrand_format("%.*s/%s", (int)(slash - source->name), source->name, value);
}

static bool include_file(struct kstackrand_policy *policy, const struct source *source,
                         const char *value, bool bare_word, struct kstackrand_error *error)
{
	char *path = resolve(source, value);
	char *text;
	size_t size;
	const char *problem = read_file(path, &text, &size);
	bool good;

	if (problem) {
		good = cannot_read(source, path, bare_word ? value : NULL, problem, error);
	} else {
		struct source file = {
			.kind = SOURCE_FILE, .name = path, .nesting = source->nesting + 1};

		good = kstackrand_parse(policy, &file, text, size, error);
	}
	free(text);
	free(path);
	return good;
}

bool kstackrand_include(struct kstackrand_policy *policy, const struct source *source,
                        const char *value, struct kstackrand_error *error)
{
	bool bare_word = !strpbrk(value, "/.");
	const struct kstackrand_preset *preset = bare_word ? find_preset(value) : NULL;

	if (source->nesting == KSTACKRAND_NESTING_MAX)
		return kstackrand_fail(error, source,
		                       "policies must not be nested more than %d deep; "
		                       "does one read itself?",
		                       KSTACKRAND_NESTING_MAX);
	if (++policy->files > KSTACKRAND_FILES_MAX)
		return kstackrand_fail(error, source,
		                       "policies must not read more than %d policies in all",
		                       KSTACKRAND_FILES_MAX);
	if (preset) {
		struct source inner = {.kind = SOURCE_PRESET,
		                       .name = preset->name,
		                       .nesting = source->nesting + 1};

		return kstackrand_parse(policy, &inner, preset->text, preset->size, error);
	}
	/* A preset stands in no folder that a path could start from. */
	if (source->kind == SOURCE_PRESET)
		return fail_with_presets(source, "a preset must name another preset", 200, error);
	return include_file(policy, source, value, bare_word, error);
}
