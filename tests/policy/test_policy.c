/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of policy/: settings, errors, policy files, presets, globs and
 * decisions, in this order; then hostile input.
 */
#include "policy.h"
#include "policy_internal.h"
#include "presets.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OPTION "-fplugin-arg-kstackrand-"
#define KNOWN_KEYS "entry, except, reseed, policy, model, bits, rng, verbose, werror, disable"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A policy, and an empty folder that is the current one. */
struct fixture {
	struct kstackrand_policy *policy;
	struct kstackrand_error error;
	char folder[64];
	int before;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	strcpy(fixture->folder, "/tmp/test_policy.XXXXXX");
	fixture->before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!mkdtemp(fixture->folder) || chdir(fixture->folder) != 0)
		return -1;
	fixture->policy = kstackrand_policy_new();
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;
	char *command = kstackrand_format("rm -rf '%s'", fixture->folder);
	int failed = fchdir(fixture->before) != 0 || system(command) != 0;

	close(fixture->before);
	free(command);
	kstackrand_policy_free(fixture->policy);
	free(fixture);
	return failed ? -1 : 0;
}

/* Gives "KEY=VALUE" or "KEY" as a compiler would. */
static bool argue(struct fixture *fixture, const char *argument)
{
	char *option = kstackrand_format("%s%s", OPTION, argument);
	char *key = kstackrand_format("%s", argument);
	char *value = strchr(key, '=');
	bool good;

	if (value)
		*value++ = '\0';
	fixture->error.text[0] = '\0';
	good = kstackrand_policy_argument(fixture->policy, option, key, value, &fixture->error);
	free(option);
	free(key);
	return good;
}

static void accept(struct fixture *fixture, const char *argument)
{
	if (!argue(fixture, argument))
		fail_msg("%s: %s", argument, fixture->error.text);
}

/* Starts again with a policy that has only these arguments. */
static void restart(struct fixture *fixture, const char *argument)
{
	kstackrand_policy_free(fixture->policy);
	fixture->policy = kstackrand_policy_new();
	if (argument)
		accept(fixture, argument);
}

static void refuse(struct fixture *fixture, const char *argument, const char *message)
{
	if (argue(fixture, argument))
		fail_msg("%.80s was taken", argument);
	assert_string_equal(fixture->error.text, message);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void write_text(const char *path, const char *text)
{
	write_file(path, text, strlen(text));
}

static char *repeat(const char *piece, size_t count, const char *tail)
{
	size_t length = strlen(piece);
	char *text = kstackrand_resize(NULL, length * count + strlen(tail) + 1);

	for (size_t i = 0; i < count; i++)
		memcpy(text + i * length, piece, length);
	strcpy(text + length * count, tail);
	return text;
}

static struct kstackrand_decision decide(struct fixture *fixture, const char *assembler_name,
                                         const char *demangled_name, const char *section,
                                         unsigned facts)
{
	const struct kstackrand_function function = {assembler_name, demangled_name, section,
	                                             facts};

	return kstackrand_policy_decide(fixture->policy, &function);
}

static bool chosen(struct fixture *fixture, const char *name)
{
	return decide(fixture, name, NULL, NULL, 0).verdict == KSTACKRAND_ENTRY_CHOSEN;
}

/* Settings. */

static void test_defaults(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(kstackrand_policy_model(fixture->policy), KSTACKRAND_MODEL_INLINE);
	assert_int_equal(kstackrand_policy_rng(fixture->policy), KSTACKRAND_RNG_FAST);
	assert_int_equal(kstackrand_policy_bits(fixture->policy), 6);
	assert_false(kstackrand_policy_verbose(fixture->policy));
	assert_false(kstackrand_policy_werror(fixture->policy));
	assert_false(kstackrand_policy_disabled(fixture->policy));
	assert_false(chosen(fixture, "main"));
	kstackrand_policy_free(NULL);
}

static void test_bits(void **state)
{
	static const struct {
		const char *argument;
		unsigned bits;
	} rows[] = {
		{"bits=0", 0},  {"bits=1", 1},
		{"bits=2", 2},  {"bits=3", 3},
		{"bits=4", 4},  {"bits=5", 5},
		{"bits=6", 6},  {"bits=7", 7},
		{"bits=8", 8},  {"bits=008", 8},
		{"bits=00", 0}, {"bits=0000000000000000000000000000000000000007", 7},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		accept(*state, rows[i].argument);
		assert_int_equal(kstackrand_policy_bits(((struct fixture *)*state)->policy),
		                 rows[i].bits);
	}
}

static void test_bad_bits(void **state)
{
	static const char *const values[] = {
		"9",
		"10",
		"08x",
		"-1",
		"+1",
		" 1",
		"1 ",
		"0x1",
		"1.0",
		"six",
		"6,",
		"256",
		"-0",
		"٣",
		"4294967296",
		"18446744073709551616",
		"18446744073709551622",
		"99999999999999999999999999999999999999999999",
	};

	for (size_t i = 0; i < COUNT(values); i++) {
		char *argument = kstackrand_format("bits=%s", values[i]);
		char *message = kstackrand_format(
			"option '" OPTION "%s': bits must be a whole number from 0 to 8", argument);

		refuse(*state, argument, message);
		free(argument);
		free(message);
	}
	assert_int_equal(kstackrand_policy_bits(((struct fixture *)*state)->policy), 6);
}

static void test_words(void **state)
{
	static const struct {
		const char *argument;
		enum kstackrand_model model;
		const char *name;
	} rows[] = {
		{"model=call", KSTACKRAND_MODEL_CALL, "call"},
		{"model=linux", KSTACKRAND_MODEL_LINUX, "linux"},
		{"model=inline", KSTACKRAND_MODEL_INLINE, "inline"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		accept(fixture, rows[i].argument);
		assert_int_equal(kstackrand_policy_model(fixture->policy), rows[i].model);
		assert_string_equal(kstackrand_model_name(rows[i].model), rows[i].name);
	}
	accept(fixture, "rng=siphash");
	assert_int_equal(kstackrand_policy_rng(fixture->policy), KSTACKRAND_RNG_SIPHASH);
	assert_string_equal(kstackrand_rng_name(KSTACKRAND_RNG_SIPHASH), "siphash");
	accept(fixture, "rng=fast");
	assert_int_equal(kstackrand_policy_rng(fixture->policy), KSTACKRAND_RNG_FAST);
	assert_string_equal(kstackrand_rng_name(KSTACKRAND_RNG_FAST), "fast");
}

/* What stands in the end counts, in whatever order it came. */
static void test_settings_that_do_not_go_together(void **state)
{
	struct fixture *fixture = *state;
	struct kstackrand_error error = {""};

	assert_true(kstackrand_policy_check(fixture->policy, &error));
	accept(fixture, "rng=siphash");
	assert_true(kstackrand_policy_check(fixture->policy, &error));
	accept(fixture, "model=linux");
	assert_false(kstackrand_policy_check(fixture->policy, &error));
	assert_string_equal(error.text, "rng=siphash does not go with model linux, whose generator "
	                                "is fast: leave one of them out");
	accept(fixture, "rng=fast");
	assert_true(kstackrand_policy_check(fixture->policy, &error));
	accept(fixture, "rng=siphash");
	accept(fixture, "model=call");
	assert_true(kstackrand_policy_check(fixture->policy, &error));
}

static void test_flags(void **state)
{
	struct fixture *fixture = *state;

	accept(fixture, "verbose");
	assert_true(kstackrand_policy_verbose(fixture->policy));
	assert_false(kstackrand_policy_werror(fixture->policy));
	accept(fixture, "werror");
	assert_true(kstackrand_policy_werror(fixture->policy));
	assert_false(kstackrand_policy_disabled(fixture->policy));
	accept(fixture, "disable");
	assert_true(kstackrand_policy_disabled(fixture->policy));
}

static void test_last_word_counts(void **state)
{
	struct fixture *fixture = *state;

	write_text("four.policy", "bits 4\nmodel call\n");
	accept(fixture, "bits=2");
	accept(fixture, "model=linux");
	accept(fixture, "policy=four.policy");
	assert_int_equal(kstackrand_policy_bits(fixture->policy), 4);
	assert_int_equal(kstackrand_policy_model(fixture->policy), KSTACKRAND_MODEL_CALL);
	accept(fixture, "bits=2");
	assert_int_equal(kstackrand_policy_bits(fixture->policy), 2);
}

static void test_help(void **state)
{
	static const char *const lines[] = {
		"  entry=GLOB  ",    "\n  except=GLOB  ",
		"\n  reseed=GLOB  ", "\n  policy=FILE|PRESET  ",
		"\n  bits=0...8  ",  "\n  rng=fast|siphash  ",
		"\n  verbose  ",     "\n  werror  ",
		"\n  disable  ",     "\n  model=inline|call|linux  ",
	};
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	size_t newlines = 0;

	(void)state;
	assert_non_null(stream);
	kstackrand_policy_help(stream);
	fclose(stream);
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_non_null(strstr(text, lines[i]));
	for (char *line = text; *line; line = strchr(line, '\n') + 1) {
		assert_in_range(strcspn(line, "\n"), 40, 100);
		newlines++;
	}
	assert_int_equal(newlines, COUNT(lines));
	free(text);
}

/* Errors. */

static void test_bad_arguments(void **state)
{
	static const struct {
		const char *argument;
		const char *message;
	} rows[] = {
		{"entri=x", "unknown key 'entri'; known keys are " KNOWN_KEYS},
		{"entri", "unknown key 'entri'; known keys are " KNOWN_KEYS},
		{"Entry=x", "unknown key 'Entry'; known keys are " KNOWN_KEYS},
		{"entry2=x", "unknown key 'entry2'; known keys are " KNOWN_KEYS},
		{"ent=x", "unknown key 'ent'; known keys are " KNOWN_KEYS},
		{"", "unknown key ''; known keys are " KNOWN_KEYS},
		{"=", "unknown key ''; known keys are " KNOWN_KEYS},
		{"entry=", "entry is empty; it must be entry=GLOB"},
		{"entry= \t ", "entry is empty; it must be entry=GLOB"},
		{"entry", "entry is without a value; it must be entry=GLOB"},
		{"except=", "except is empty; it must be except=GLOB"},
		{"reseed", "reseed is without a value; it must be reseed=GLOB"},
		{"policy=", "policy is empty; it must be policy=FILE|PRESET"},
		{"model=", "model is empty; it must be model=inline|call|linux"},
		{"bits", "bits is without a value; it must be bits=0...8"},
		{"bits=", "bits is empty; it must be bits=0...8"},
		{"rng=", "rng is empty; it must be rng=fast|siphash"},
		{"model=Inline", "model must be one of inline, call, linux"},
		{"model=inlin", "model must be one of inline, call, linux"},
		{"model=call ", "model must be one of inline, call, linux"},
		{"rng=siphash24", "rng must be one of fast, siphash"},
		{"verbose=1", "verbose takes no value"},
		{"verbose=", "verbose takes no value"},
		{"werror=no", "werror takes no value"},
		{"disable=0", "disable takes no value"},
		{"entry=a\\", "entry must not end in a backslash"},
		{"entry=a\\\\\\", "entry must not end in a backslash"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char option[256] = "";
		struct shown shown;
		char *message;

		snprintf(option, sizeof(option), "%s%s", OPTION, rows[i].argument);
		message = kstackrand_format("option '%s': %s",
		                            kstackrand_show(&shown, option, KSTACKRAND_SHOWN_MAX),
		                            rows[i].message);
		refuse(*state, rows[i].argument, message);
		free(message);
	}
}

static void test_glob_length(void **state)
{
	struct fixture *fixture = *state;
	char *longest = repeat("x", 1024, "");
	char *too_long = repeat("x", 1025, "");
	char *stars = repeat("*", 3000, "x");
	char *argument = kstackrand_format("entry=%s", longest);

	accept(fixture, argument);
	assert_true(chosen(fixture, longest));
	free(argument);
	argument = kstackrand_format("entry=%s", too_long);
	assert_false(argue(fixture, argument));
	assert_non_null(
		strstr(fixture->error.text, "xxx...': entry must not be longer than 1024 bytes"));
	free(argument);
	/* A run of stars is one star. */
	argument = kstackrand_format("entry=%s", stars);
	accept(fixture, argument);
	free(argument);
	free(stars);
	free(too_long);
	free(longest);
}

static void test_printable(void **state)
{
	static const struct {
		const char *text;
		const char *shown;
	} rows[] = {
		{"plain", "plain"},
		{"a\nb\tc\x1b[31m\x7f", "a\\x0ab\\x09c\\x1b[31m\\x7f"},
		{"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	         "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xc3", "\\xc3"},                                   /* cut short */
		{"\xe2\x82", "\\xe2\\x82"},                          /* cut short */
		{"\xf0\x9f\x98", "\\xf0\\x9f\\x98"},                 /* cut short */
		{"\xc3(", "\\xc3("},                                 /* no continuation */
		{"\xc0\xaf", "\\xc0\\xaf"},                          /* overlong */
		{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},                 /* overlong */
		{"\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf"},        /* overlong */
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},                 /* surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},        /* above U+10FFFF */
		{"\xc2\x9b", "\\xc2\\x9b"},                          /* U+009B, a control */
		{"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},                 /* U+2028, a line break */
		{"\xe2\x80\xae", "\\xe2\\x80\\xae"},                 /* U+202E, right to left */
		{"\xe2\x81\xa6", "\\xe2\\x81\\xa6"},                 /* U+2066, isolate */
		{"0123456789012345", "0123456789012345"},            /* exactly the limit */
		{"01234567890123456", "0123456789012345..."},        /* one more */
		{"012345678901234\n", "012345678901234..."},         /* no half escape */
		{"01234567890123\xe2\x82\xac", "01234567890123..."}, /* no half character */
	};
	struct shown shown;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		/* Cut-short characters at the very end of their memory. */
		char *text = kstackrand_format("%s", rows[i].text);

		assert_string_equal(kstackrand_show(&shown, text, i < 17 ? 64 : 16), rows[i].shown);
		free(text);
	}
}

static void test_long_errors(void **state)
{
	struct fixture *fixture = *state;
	char *value = repeat("\n", 5000, "");
	char *key = repeat("k", 5000, "");
	char *argument;

	argument = kstackrand_format("%s=%s", key, value);
	assert_false(argue(fixture, argument));
	assert_non_null(strstr(fixture->error.text, "kkk...': unknown key 'kkk"));
	assert_non_null(strstr(fixture->error.text, "; known keys are " KNOWN_KEYS));
	free(argument);

	/* The longest message there is keeps its end. */
	argument = kstackrand_format("policy=%s", value);
	assert_false(argue(fixture, argument));
	assert_non_null(strstr(fixture->error.text, "; presets are alpha, "));
	assert_null(strchr(fixture->error.text, '\n'));
	free(argument);

	argument = kstackrand_format("policy=./%s", value);
	assert_false(argue(fixture, argument));
	assert_non_null(strstr(fixture->error.text, "...': File name too long"));
	free(argument);
	free(value);
	free(key);
}

/* Policy files. */

static void test_file(void **state)
{
	struct fixture *fixture = *state;

	write_text("all.policy", "# a comment\n"
	                         "\n"
	                         "   \t \n"
	                         "entry handle_*\n"
	                         "\tentry \t ns::Server::handle(int) const \t # a comment\n"
	                         "entry hash#inside\n"
	                         "entry # no value\n");
	refuse(fixture, "policy=all.policy",
	       "policy file 'all.policy', line 7: entry is without a value; it must be entry GLOB");
	assert_true(chosen(fixture, "handle_x"));
	assert_true(chosen(fixture, "ns::Server::handle(int) const"));
	assert_true(chosen(fixture, "hash#inside"));
	assert_false(chosen(fixture, "hash"));
}

static void test_file_forms(void **state)
{
	static const struct {
		const char *text;
		bool bits_too;
	} rows[] = {
		{"entry f\nbits 3\n", true},
		{"entry f\r\nbits 3\r\n", true},
		{"entry f \t\r\nbits 3\r\n", true},
		{"entry f\nbits 3", true},
		{"entry f\r\nbits 3\r", true},
		{"\xef\xbb\xbf"
	         "entry f\nbits\t3",
	         true},
		{"\xef\xbb\xbf#\nentry f#\n#\nentry f\nbits 3 #", true},
		{"bits 3\n\n\n\n#\nentry f", true},
		{"entry f\nverbose # loud\nbits 3\n", true},
		{"entry f", false},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		write_text("form.policy", rows[i].text);
		restart(fixture, "policy=form.policy");
		assert_true(chosen(fixture, "f"));
		assert_false(chosen(fixture, "f\r"));
		assert_int_equal(kstackrand_policy_bits(fixture->policy), rows[i].bits_too ? 3 : 6);
	}
	write_text("empty.policy", "");
	accept(fixture, "policy=empty.policy");
	write_text("mark.policy", "\xef\xbb\xbf");
	accept(fixture, "policy=mark.policy");
}

static void test_bad_lines(void **state)
{
	static const struct {
		const char *text;
		size_t size; /* 0: to the end of the string */
		const char *message;
	} rows[] = {
		{"#\n#\nentri x\n", 0, "line 3: unknown key 'entri'; known keys are " KNOWN_KEYS},
		{"bits 9", 0, "line 1: bits must be a whole number from 0 to 8"},
		{"bits 1 2", 0, "line 1: bits must be a whole number from 0 to 8"},
		{"\r\nbits\r\n", 0, "line 2: bits is without a value; it must be bits 0...8"},
		{"\nverbose yes\n", 0, "line 2: verbose takes no value"},
		{"model x", 0, "line 1: model must be one of inline, call, linux"},
		{"entry=f\n", 0, "line 1: write 'entry VALUE', with a space, not '='"},
		{"entri=f\n", 0, "line 1: unknown key 'entri=f'; known keys are " KNOWN_KEYS},
		{"\n\x1b[1m\n", 0, "line 2: unknown key '\\x1b[1m'; known keys are " KNOWN_KEYS},
		{"entry f\nentry a\0b\n", 18,
	         "line 2: there is a NUL byte; a policy must be plain text"},
		{"#\n# \0\n", 6, "line 2: there is a NUL byte; a policy must be plain text"},
		{"\0", 1, "line 1: there is a NUL byte; a policy must be plain text"},
		{"bits 6\n\xef\xbb\xbf"
	         "bits 6",
	         0,
	         "line 2: unknown key '\xef\xbb\xbf"
	         "bits'; known keys are " KNOWN_KEYS},
		{"entry \\", 0, "line 1: entry must not end in a backslash"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *message = kstackrand_format("policy file 'bad.policy', %s", rows[i].message);

		write_file("bad.policy", rows[i].text,
		           rows[i].size ? rows[i].size : strlen(rows[i].text));
		refuse(*state, "policy=bad.policy", message);
		free(message);
	}
}

static void test_line_length(void **state)
{
	char *comment = repeat("#", 4096, "\r\nbits 3\n");

	write_text("line.policy", comment);
	accept(*state, "policy=line.policy");
	free(comment);

	comment = repeat("#", 4097, "\nbits 3\n");
	write_text("line.policy", comment);
	refuse(*state, "policy=line.policy",
	       "policy file 'line.policy', line 1: the line must not be longer than 4096 bytes");
	free(comment);

	comment = repeat("x", 1024 * 1024, "");
	write_text("line.policy", comment);
	refuse(*state, "policy=line.policy",
	       "policy file 'line.policy', line 1: the line must not be longer than 4096 bytes");
	free(comment);
}

static void test_file_size(void **state)
{
	char *text = repeat("#234567\n", 1024 * 1024 / 8 - 1, "bits 3 \n");
	char *more;

	write_text("big.policy", text);
	accept(*state, "policy=big.policy");
	assert_int_equal(kstackrand_policy_bits(((struct fixture *)*state)->policy), 3);
	more = kstackrand_format("%s\n", text);
	write_text("big.policy", more);
	refuse(*state, "policy=big.policy",
	       "option '" OPTION "policy=big.policy': cannot read policy file 'big.policy': "
	       "it must not be larger than 1 MiB");
	free(more);
	free(text);
	/* Far larger than memory, and read no further than that either. */
	assert_int_equal(truncate("big.policy", INT64_C(1) << 42), 0);
	assert_false(argue(*state, "policy=big.policy"));
}

static void test_unreadable(void **state)
{
	static const struct {
		const char *path;
		const char *problem;
	} rows[] = {
		{"./missing", "No such file or directory"},
		{"missing.policy", "No such file or directory"},
		{"a.folder", "Is a directory"},
		{"/", "Is a directory"},
		{".", "Is a directory"},
		{"./fifo", "it must be a regular file"},
		{"/dev/null", "it must be a regular file"},
		{"/dev/zero", "it must be a regular file"},
		{"loop.policy", "Too many levels of symbolic links"},
		{"a.folder/x/y", "No such file or directory"},
		{"file.policy/x", "Not a directory"},
		{"/proc/self/mem", "Input/output error"}, /* regular, but fails to be read */
	};

	assert_int_equal(mkdir("a.folder", 0755), 0);
	assert_int_equal(mkfifo("fifo", 0644), 0);
	assert_int_equal(symlink("loop.policy", "loop.policy"), 0);
	write_text("file.policy", "");
	alarm(20);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *argument = kstackrand_format("policy=%s", rows[i].path);
		char *message =
			kstackrand_format("option '" OPTION "%s': cannot read policy file '%s': %s",
		                          argument, rows[i].path, rows[i].problem);

		refuse(*state, argument, message);
		free(argument);
		free(message);
	}
	alarm(0);
}

static void test_no_permission(void **state)
{
	struct fixture *fixture = *state;
	uid_t user = geteuid();
	bool good;

	write_text("secret.policy", "");
	assert_int_equal(chmod("secret.policy", 0), 0);
	if (user == 0 && seteuid(65534) != 0)
		skip();
	good = argue(fixture, "policy=secret.policy");
	if (user == 0)
		assert_int_equal(seteuid(0), 0);
	assert_false(good);
	assert_string_equal(fixture->error.text,
	                    "option '" OPTION "policy=secret.policy': "
	                    "cannot read policy file 'secret.policy': Permission denied");
}

static void test_no_leaked_descriptor(void **state)
{
	int before = dup(0);
	int after;

	close(before);
	write_text("good.policy", "bits 3\n");
	write_text("bad.policy", "bits x\n");
	accept(*state, "policy=good.policy");
	assert_false(argue(*state, "policy=bad.policy"));
	assert_false(argue(*state, "policy=/dev/null"));
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
}

static void test_files_in_files(void **state)
{
	struct fixture *fixture = *state;
	char *absolute = kstackrand_format("policy %s/deep/three.policy\n", fixture->folder);

	assert_int_equal(mkdir("deep", 0755), 0);
	assert_int_equal(mkdir("deep/er", 0755), 0);
	write_text("one.policy", "policy deep/two.policy\n");
	write_text("deep/two.policy", "\npolicy er/../three.policy\npolicy word\nbits 3\n");
	write_text("deep/three.policy", "entry three\n");
	write_text("deep/word", "entry word\n");
	accept(fixture, "policy=one.policy");
	assert_true(chosen(fixture, "three"));
	assert_true(chosen(fixture, "word"));
	assert_int_equal(kstackrand_policy_bits(fixture->policy), 3);

	write_text("deep/one.policy", absolute);
	restart(fixture, "policy=deep/one.policy");
	assert_true(chosen(fixture, "three"));
	free(absolute);

	/* Errors name the file in which they stand, and where it was asked for. */
	write_text("deep/three.policy", "\n\nentri three\n");
	refuse(fixture, "policy=deep/two.policy",
	       "policy file 'deep/er/../three.policy', line 3: unknown key 'entri'; known keys "
	       "are " KNOWN_KEYS);
	assert_int_equal(unlink("deep/three.policy"), 0);
	refuse(fixture, "policy=deep/two.policy",
	       "policy file 'deep/two.policy', line 2: cannot read policy file "
	       "'deep/er/../three.policy': No such file or directory");
}

static void test_nesting(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 1; i <= 8; i++) {
		char *path = kstackrand_format("%d.policy", i);
		char *text = kstackrand_format("entry level%d\n%s %d.policy\n", i,
		                               i < 8 ? "policy" : "#", i + 1);

		write_text(path, text);
		free(path);
		free(text);
	}
	accept(fixture, "policy=1.policy");
	assert_true(chosen(fixture, "level8"));

	write_text("8.policy", "policy 9.policy\n");
	write_text("9.policy", "");
	refuse(fixture, "policy=1.policy",
	       "policy file '8.policy', line 1: policies must not be nested more than 8 deep; "
	       "does one read itself?");
	write_text("self.policy", "\npolicy self.policy\n");
	refuse(fixture, "policy=self.policy",
	       "policy file 'self.policy', line 2: policies must not be nested more than 8 deep; "
	       "does one read itself?");
}

/* Ten ways on at each of eight levels are a hundred million files. */
static void test_fan_out(void **state)
{
	for (int i = 1; i <= 8; i++) {
		char *path = kstackrand_format("%d.policy", i);
		char *line = kstackrand_format("%s %d.policy\n", i < 8 ? "policy" : "#", i + 1);
		char *text = repeat(line, 10, "");

		write_text(path, text);
		free(path);
		free(line);
		free(text);
	}
	assert_false(argue(*state, "policy=1.policy"));
	assert_non_null(strstr(((struct fixture *)*state)->error.text,
	                       "policies must not read more than 256 policies in all"));
}

/* Presets. */

static void test_presets(void **state)
{
	struct fixture *fixture = *state;

	write_text("alpha", "entry file\n");
	accept(fixture, "policy=alpha");
	assert_true(chosen(fixture, "alpha_one"));
	assert_false(chosen(fixture, "file"));
	assert_int_equal(kstackrand_policy_bits(fixture->policy), 3);
	accept(fixture, "policy=./alpha");
	assert_true(chosen(fixture, "file"));
	accept(fixture, "policy=empty");

	restart(fixture, "policy=nested");
	assert_true(chosen(fixture, "alpha_one"));
	assert_true(chosen(fixture, "nested_one"));

	write_text("reads.policy", "policy nested\n");
	restart(fixture, "policy=reads.policy");
	assert_true(chosen(fixture, "alpha_one"));
	write_text("word", "entry word\n");
	accept(fixture, "policy=word");
	assert_true(chosen(fixture, "word"));
}

static void test_bad_presets(void **state)
{
	refuse(*state, "policy=broken",
	       "preset 'broken', line 3: unknown key 'entri'; known keys are " KNOWN_KEYS);
	refuse(*state, "policy=path",
	       "preset 'path', line 3: a preset must name another preset; "
	       "presets are alpha, broken, bytes, empty, nested, path");
	refuse(*state, "policy=alph",
	       "option '" OPTION "policy=alph': there is no preset 'alph', and no policy file "
	       "'alph': No such file or directory; "
	       "presets are alpha, broken, bytes, empty, nested, path");
	assert_int_equal(mkdir("sub", 0755), 0);
	write_text("sub/x.policy", "policy alph\n");
	refuse(*state, "policy=sub/x.policy",
	       "policy file 'sub/x.policy', line 1: there is no preset 'alph', and no policy file "
	       "'sub/alph': No such file or directory; "
	       "presets are alpha, broken, bytes, empty, nested, path");
}

/* The table holds the files byte for byte, in order. */
static void test_embedding(void **state)
{
	size_t count = 0;

	(void)state;
	for (const struct kstackrand_preset *preset = kstackrand_presets; preset->name; preset++) {
		char *path = kstackrand_format("%s/%s.policy", TEST_PRESETS, preset->name);
		FILE *file = fopen(path, "r");
		char *bytes = kstackrand_resize(NULL, preset->size + 1);

		assert_non_null(file);
		assert_int_equal(fread(bytes, 1, preset->size + 1, file), preset->size);
		assert_memory_equal(bytes, preset->text, preset->size);
		assert_int_equal(preset->text[preset->size], 0);
		if (count++)
			assert_true(strcmp(preset[-1].name, preset->name) < 0);
		fclose(file);
		free(bytes);
		free(path);
	}
	assert_int_equal(count, 6);
}

static void test_shipped_presets(void **state)
{
	struct fixture *fixture = *state;
	glob_t found;

	if (glob(SHIPPED_PRESETS "/*.policy", 0, NULL, &found) != 0)
		skip();
	for (size_t i = 0; i < found.gl_pathc; i++) {
		char *argument = kstackrand_format("policy=%s", found.gl_pathv[i]);

		restart(fixture, NULL);
		/* A preset that reads another finds only the test's presets here. */
		if (!argue(fixture, argument) && !strstr(fixture->error.text, "no preset"))
			fail_msg("%s", fixture->error.text);
		free(argument);
	}
	globfree(&found);
}

/* Globs. */

static void test_globs(void **state)
{
	static const struct {
		const char *glob;
		const char *name;
		bool match;
	} rows[] = {
		{"main", "main", true},
		{"main", "main2", false},
		{"main", "xmain", false},
		{"main", "Main", false},
		{"handle_*", "handle_", true},
		{"handle_*", "handle_get", true},
		{"handle_*", "xhandle_get", false},
		{"*", ".hidden/path", true}, /* flags 0: nothing is special in a name */
		{"a***b", "a/x.b", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"[ab]c", "bc", true},
		{"[!ab]c", "bc", false},
		{"[[:digit:]]", "7", true},
		{"a\\*", "a*", true},
		{"a\\*", "ab", false},
		{"a\\**", "a*b", true},
		{"a\\**", "ab", false},
		{"a\\\\", "a\\", true},
		{"f.constprop.0", "f.constprop.0", true},
		{"f.0", "fx0", false},
		{"operator[]", "operator[]", true},
		{"label", "*label", true},  /* GCC: asm("label") */
		{"label", "\1label", true}, /* LLVM: asm("label") */
		{"*label", "label", true},
		{"label", "**label", false},
		{"f?", "f\xc3\xa9", false}, /* bytes, in any locale */
		{"f??", "f\xc3\xa9", true},
		{"f[a-z]", "fB", false},
		{"f\xff", "f\xff", true},
		{"f*", "f\xff\xfe", true},
	};
	static const char *const locales[] = {"C", "C.UTF-8", "en_US.UTF-8"};
	struct fixture *fixture = *state;

	for (size_t l = 0; l < COUNT(locales); l++) {
		if (!setlocale(LC_ALL, locales[l]))
			continue;
		for (size_t i = 0; i < COUNT(rows); i++) {
			char *argument = kstackrand_format("entry=%s", rows[i].glob);

			restart(fixture, argument);
			if (chosen(fixture, rows[i].name) != rows[i].match)
				fail_msg("'%s' and '%s' in locale %s", rows[i].glob, rows[i].name,
				         locales[l]);
			free(argument);
		}
	}
	setlocale(LC_ALL, "C");
}

static void test_locale_is_left_alone(void **state)
{
	locale_t mine = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
	locale_t before;

	if (!mine)
		skip();
	accept(*state, "entry=*");
	before = uselocale(mine);
	assert_true(chosen(*state, "f"));
	assert_true(uselocale(before) == mine);
	freelocale(mine);
}

/* What a demangled name is called without its parameters; NULL: it has none. */
static void test_bare_names(void **state)
{
	static const struct {
		const char *demangled;
		const char *bare;
	} rows[] = {
		{"f()", "f"},
		{"f(...)", "f"},
		{"f(char const*, ...)", "f"},
		{"ns::Server::handle(int)", "ns::Server::handle"},
		{"ns::Server::handle(int) const", "ns::Server::handle"},
		{"ns::Server::handle(int) const volatile &&", "ns::Server::handle"},
		{"ns::Server::handle(int) const&", "ns::Server::handle"},
		{"ns::Server::handle(int) &", "ns::Server::handle"},
		{"ns::Server::handle(int) const noexcept", "ns::Server::handle"},
		{"f(int) [clone .cold]", "f"},
		{"f(int) const [clone .part.0] [clone .cold]", "f"},
		{"f(...) [clone .cold]", "f"},
		{"f(int) (.cold)", "f"},
		{"f(...) (.llvm.1234)", "f"},
		{"f[abi:cxx11](int)", "f"},
		{"f[abi:one][abi:two](int) const", "f"},
		{"ns::f[abi:cxx11](int) [clone .cold]", "ns::f"},
		{"f(void (*)(int), int (*)(char))", "f"},
		{"f(decltype ((1)+(2)))", "f"},
		{"X::operator()()", "X::operator()"},
		{"X::operator()(int) const", "X::operator()"},
		{"X::operator()()() const", "X::operator()()"}, /* nonsense, but no crash */
		{"operator()(int)", "operator()"},
		{"myoperator()", "myoperator"},
		{"X::operator[](unsigned long)", "X::operator[]"},
		{"X::operator bool() const", "X::operator bool"},
		{"X::operator&()", "X::operator&"},
		{"X::operator&&(X const&)", "X::operator&&"},
		{"X::operator void (*)(int)()", "X::operator void (*)(int)"},
		{"operator new(unsigned long)", "operator new"},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"ns::(anonymous namespace)::X::f() const", "ns::(anonymous namespace)::X::f"},
		{"main::{lambda(int)#1}::operator()(int) const",
	         "main::{lambda(int)#1}::operator()"},
		{"main::$_0::operator()(int) const", "main::$_0::operator()"},
		{"f(int)::'lambda'(char)::operator()(char) const",
	         "f(int)::'lambda'(char)::operator()"},
		{"f()::local(int)", "f()::local"},
		{"void ns::get<int>(char)", "ns::get<int>"},
		{"unsigned long ns::get<std::vector<int, A (*)[3]> >(char)",
	         "ns::get<std::vector<int, A (*)[3]> >"},
		{"std::map<int, char> get<int>(char)", "get<int>"},
		{"X::operator std::vector<int>()", "X::operator std::vector<int>"},
		{"bool operator>(X, X)", "bool operator>"},
		{"void (*ns::get<int>(char))(int)", "ns::get<int>"},
		{"int& (&ns::get<int>(char) [3])(int)", NULL},
		{"void (C::*ns::get<int>(char))(int) const", "ns::get<int>"},
		{"void (*(*get<int>(char))(short))(long)", "get<int>"},
		{"void (*get<&(X::operator())>(char))(int)", "get<&(X::operator())>"},
		{"void (*X::operator()<int>(char))(int)", "X::operator()<int>"},
		{"f", NULL},
		{"", NULL},
		{"()", NULL},
		{"(int)", NULL},
		{")", NULL},
		{"(", NULL},
		{"f)", NULL},
		{"f(", NULL},
		{"f(()", "f("},
		{"f(int))", NULL},
		{" const", NULL},
		{"const", NULL},
		{"&&", NULL},
		{"]", NULL},
		{"[clone ]", NULL},
		{"[abi:x](int)", NULL},
		{"f(int)const", "f"},
		{"f(int)xconst", NULL},
		{"X::operator()", NULL},
		{"operator()", NULL},
		{"(anonymous namespace)::variable", NULL},
		{"ns::(anonymous namespace)", "ns::"}, /* names no function */
		{"guard variable for f()::x", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct kstackrand_function function = {"_Z", rows[i].demangled, NULL, 0};
		struct names names;

		kstackrand_names_init(&names, &function);
		if (!rows[i].bare != !names.bare ||
		    (names.bare && strcmp(names.bare, rows[i].bare) != 0))
			fail_msg("'%s' became '%s'", rows[i].demangled,
			         names.bare ? names.bare : "(none)");
		kstackrand_names_free(&names);
	}
}

static void test_names(void **state)
{
	static const struct {
		const char *glob;
		bool match;
	} rows[] = {
		{"_ZNK2ns6Server6handleEi", true},
		{"_ZNK2ns6Server*", true},
		{"ns::Server::handle(int) const", true},
		{"ns::Server::handle", true},
		{"ns::Server::*", true},
		{"ns::Server::handle(*)", false}, /* the whole name ends in const */
		{"ns::Server::handle(*) const", true},
		{"ns::Server::hand", false},
		{"Server::handle", false},
		{"handle", false},
		{"*::handle", true},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		char *argument = kstackrand_format("entry=%s", rows[i].glob);
		struct kstackrand_decision decision;

		restart(fixture, argument);
		decision = decide(fixture, "_ZNK2ns6Server6handleEi",
		                  "ns::Server::handle(int) const", NULL, 0);
		if ((decision.verdict == KSTACKRAND_ENTRY_CHOSEN) != rows[i].match)
			fail_msg("'%s'", rows[i].glob);
		free(argument);
	}
}

static bool reseeds(const struct fixture *fixture, const struct kstackrand_function *function)
{
	return kstackrand_policy_decide_reseed(fixture->policy, function).verdict !=
	       KSTACKRAND_NOT_CHOSEN;
}

static void test_reseed(void **state)
{
	static const struct kstackrand_function tick = {"scheduler_tick", NULL, NULL, 0};
	static const struct kstackrand_function method = {"_Z", "ns::tick(int)", NULL, 0};
	struct fixture *fixture = *state;

	accept(fixture, "entry=*");
	assert_false(reseeds(fixture, &tick));
	accept(fixture, "reseed=*tick");
	assert_true(reseeds(fixture, &tick));
	assert_true(reseeds(fixture, &method));
	restart(fixture, "reseed=*");
	assert_false(chosen(fixture, "scheduler_tick"));
}

/* A reseed point makes calls, and only one model knows of any. */
static void test_reseed_refusals(void **state)
{
	static const struct {
		const char *model;
		const char *section;
		unsigned facts;
		enum kstackrand_verdict verdict;
	} rows[] = {
		{"model=linux", NULL, 0, KSTACKRAND_ENTRY_CHOSEN},
		{"model=linux", ".init.text", 0, KSTACKRAND_ENTRY_CHOSEN},
		{"model=linux", NULL, KSTACKRAND_FACT_MUST_TAIL, KSTACKRAND_ENTRY_CHOSEN},
		{"model=linux", NULL, KSTACKRAND_FACT_NAKED, KSTACKRAND_REFUSED},
		{"model=linux", NULL, KSTACKRAND_FACT_MODULE, KSTACKRAND_REFUSED},
		{"model=linux", ".noinstr.text", 0, KSTACKRAND_REFUSED},
		{"model=inline", NULL, 0, KSTACKRAND_REFUSED},
		{"model=call", NULL, 0, KSTACKRAND_REFUSED},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct kstackrand_function function = {"tick", NULL, rows[i].section,
		                                             rows[i].facts};
		struct kstackrand_decision decision;

		restart(fixture, rows[i].model);
		assert_int_equal(
			kstackrand_policy_decide_reseed(fixture->policy, &function).verdict,
			KSTACKRAND_NOT_CHOSEN);
		accept(fixture, "reseed=tick");
		decision = kstackrand_policy_decide_reseed(fixture->policy, &function);
		assert_int_equal(decision.verdict, rows[i].verdict);
		assert_true(decision.by_name);
		assert_string_equal(decision.because, "reseed 'tick'");
		assert_true((decision.reason != NULL) == (rows[i].verdict == KSTACKRAND_REFUSED));
	}
}

/* Decisions. */

#define BY_ATTRIBUTE KSTACKRAND_FACT_ATTRIBUTE_ENTRY
#define AGAINST KSTACKRAND_FACT_ATTRIBUTE_NO

static void test_decisions(void **state)
{
	static const struct {
		const char *arguments[3];
		unsigned facts;
		enum kstackrand_verdict verdict;
		bool by_name;
		const char *because;
	} rows[] = {
		{{NULL}, 0, KSTACKRAND_NOT_CHOSEN, false, NULL},
		{{"entry=other"}, 0, KSTACKRAND_NOT_CHOSEN, false, NULL},
		{{"except=*"}, 0, KSTACKRAND_NOT_CHOSEN, false, NULL},
		{{NULL}, AGAINST, KSTACKRAND_NOT_CHOSEN, false, NULL},
		{{NULL}, KSTACKRAND_FACT_NAKED, KSTACKRAND_NOT_CHOSEN, false, NULL},
		{{NULL}, BY_ATTRIBUTE, KSTACKRAND_ENTRY_CHOSEN, true, "the attribute 'kstackrand'"},
		{{"entry=handle"}, 0, KSTACKRAND_ENTRY_CHOSEN, true, "entry 'handle'"},
		{{"entry=h*"}, 0, KSTACKRAND_ENTRY_CHOSEN, false, "entry 'h*'"},
		{{"entry=h**e"}, 0, KSTACKRAND_ENTRY_CHOSEN, false, "entry 'h**e'"},
		{{"entry=h?ndle"}, 0, KSTACKRAND_ENTRY_CHOSEN, false, "entry 'h?ndle'"},
		{{"entry=h[a]ndle"}, 0, KSTACKRAND_ENTRY_CHOSEN, false, "entry 'h[a]ndle'"},
		{{"entry=h\\andle"}, 0, KSTACKRAND_ENTRY_CHOSEN, false, "entry 'h\\andle'"},
		/* The first that matches is told, but one that names it comes first. */
		{{"entry=x", "entry=h*", "entry=*e"},
	         0,
	         KSTACKRAND_ENTRY_CHOSEN,
	         false,
	         "entry 'h*'"},
		{{"entry=h*", "entry=handle"}, 0, KSTACKRAND_ENTRY_CHOSEN, true, "entry 'handle'"},
		{{"entry=h*"},
	         BY_ATTRIBUTE,
	         KSTACKRAND_ENTRY_CHOSEN,
	         true,
	         "the attribute 'kstackrand'"},
		{{"entry=handle", "except=h*"}, 0, KSTACKRAND_EXCEPTED, true, "except 'h*'"},
		{{"except=h*", "entry=h*"}, 0, KSTACKRAND_EXCEPTED, false, "except 'h*'"},
		{{"except=handle"}, BY_ATTRIBUTE, KSTACKRAND_EXCEPTED, true, "except 'handle'"},
		{{"except=other"},
	         BY_ATTRIBUTE,
	         KSTACKRAND_ENTRY_CHOSEN,
	         true,
	         "the attribute 'kstackrand'"},
		{{"entry=handle"},
	         AGAINST,
	         KSTACKRAND_EXCEPTED,
	         true,
	         "the attribute 'no_kstackrand'"},
		{{"entry=handle", "except=h*"},
	         AGAINST,
	         KSTACKRAND_EXCEPTED,
	         true,
	         "the attribute 'no_kstackrand'"},
		{{NULL},
	         BY_ATTRIBUTE | AGAINST,
	         KSTACKRAND_EXCEPTED,
	         true,
	         "the attribute 'no_kstackrand'"},
		/* What was taken out is not refused as well. */
		{{"except=h*"},
	         BY_ATTRIBUTE | KSTACKRAND_FACT_NAKED,
	         KSTACKRAND_EXCEPTED,
	         true,
	         "except 'h*'"},
		{{"entry=h*"}, KSTACKRAND_FACT_NAKED, KSTACKRAND_REFUSED, false, "entry 'h*'"},
		{{NULL},
	         BY_ATTRIBUTE | KSTACKRAND_FACT_NAKED,
	         KSTACKRAND_REFUSED,
	         true,
	         "the attribute 'kstackrand'"},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kstackrand_decision decision;

		restart(fixture, NULL);
		for (size_t a = 0; a < COUNT(rows[i].arguments) && rows[i].arguments[a]; a++)
			accept(fixture, rows[i].arguments[a]);
		decision = decide(fixture, "handle", NULL, NULL, rows[i].facts);
		if (decision.verdict != rows[i].verdict || decision.by_name != rows[i].by_name)
			fail_msg("row %zu: verdict %d, by name %d", i, decision.verdict,
			         decision.by_name);
		if (rows[i].because)
			assert_string_equal(decision.because, rows[i].because);
		else
			assert_null(decision.because);
		assert_int_equal(decision.verdict == KSTACKRAND_REFUSED, decision.reason != NULL);
	}
}

/* GCC's clones have dots in their names; a dot is no wildcard. */
static void test_dot_is_a_name(void **state)
{
	accept(*state, "entry=f.constprop.0");
	assert_true(decide(*state, "f.constprop.0", NULL, NULL, 0).by_name);
}

/* In the order of the facts; a word that no other reason has. */
static const struct {
	unsigned fact;
	const char *word;
} refusals[] = {
	{KSTACKRAND_FACT_NAKED, "it is naked"},
	{KSTACKRAND_FACT_IFUNC_RESOLVER, "it is an ifunc resolver"},
	{KSTACKRAND_FACT_ALWAYS_INLINE, "it is always_inline, and a copy inlined into its caller "
                                        "has no stack of its own to shift"},
	{KSTACKRAND_FACT_GNU_INLINE, "it is extern inline"},
	{KSTACKRAND_FACT_MUST_TAIL, "it has a must-tail call"},
	{KSTACKRAND_FACT_SPLIT_STACK, "-fsplit-stack"},
	{KSTACKRAND_FACT_NOT_64_BIT, "64-bit target"},
	{KSTACKRAND_FACT_INTERRUPT, "interrupt handler"},
	{KSTACKRAND_FACT_SWIFT_TAIL, "swifttailcc"},
	{KSTACKRAND_FACT_NOT_KERNEL, "__KERNEL__"},
	{KSTACKRAND_FACT_MODULE, "loadable module"},
};

static void test_refusals(void **state)
{
	static const char *const models[] = {"model=inline", "model=call", "model=linux"};
	struct fixture *fixture = *state;
	unsigned all = 0;

	assert_null(kstackrand_refusal(0));
	assert_null(kstackrand_refusal(BY_ATTRIBUTE | AGAINST));
	assert_null(kstackrand_refusal(1U << 31));
	for (size_t i = COUNT(refusals); i-- > 0;) {
		/* With every later one: the first is told. */
		all |= refusals[i].fact;
		assert_non_null(strstr(kstackrand_refusal(all), refusals[i].word));
		assert_non_null(strstr(kstackrand_refusal(refusals[i].fact), refusals[i].word));
	}
	for (size_t m = 0; m < COUNT(models); m++) {
		restart(fixture, models[m]);
		for (size_t i = 0; i < COUNT(refusals); i++) {
			struct kstackrand_decision decision =
				decide(fixture, "f", NULL, ".noinstr.text",
			               BY_ATTRIBUTE | refusals[i].fact);

			assert_int_equal(decision.verdict, KSTACKRAND_REFUSED);
			assert_ptr_equal(decision.reason, kstackrand_refusal(refusals[i].fact));
		}
	}
}

/* Whoever asks for a function by name finds the reason in the object; a pattern
 * catches inline functions by the hundred. */
static void test_noted_refusals(void **state)
{
	static const unsigned without_code =
		KSTACKRAND_FACT_ALWAYS_INLINE | KSTACKRAND_FACT_GNU_INLINE;
	struct fixture *fixture = *state;

	accept(fixture, "entry=named");
	accept(fixture, "entry=pattern*");
	accept(fixture, "reseed=pattern*");
	for (size_t i = 0; i < COUNT(refusals); i++) {
		unsigned fact = refusals[i].fact;
		struct kstackrand_function pattern = {"pattern", NULL, NULL, fact};

		assert_true(decide(fixture, "named", NULL, NULL, fact).noted);
		assert_int_equal(decide(fixture, "pattern", NULL, NULL, fact).noted,
		                 !(fact & without_code));
		assert_int_equal(kstackrand_policy_decide_reseed(fixture->policy, &pattern).noted,
		                 !(fact & without_code));
	}
	assert_false(decide(fixture, "named", NULL, NULL, 0).noted);
	assert_false(decide(fixture, "other", NULL, NULL, KSTACKRAND_FACT_NAKED).noted);
}

static void test_sections(void **state)
{
	static const struct {
		const char *section;
		bool refused;
		bool refused_in_linux;
	} rows[] = {
		{NULL, false, false},
		{"", false, false},
		{".text", false, false},
		{".text.hot.f", false, false},
		{".init.text", false, false},
		{".init.text.f", false, false},
		{".sched.text", false, false},
		{".irqentry.text", false, false},
		{".noinstr", false, false},
		{".noinstr.textual", false, false},
		{"x.noinstr.text", false, false},
		{".noinstr.text", true, false},
		{".noinstr.text.f", true, false},
		{".cpuidle.text", true, false},
		{".entry.text", true, false},
		{".entry.text.f", true, false},
		{".head.text", true, true},
		{".idmap.text", true, true},
		{".hyp.text", true, true},
		{".hyp.idmap.text", true, true},
		{".kprobes.text", true, false},
	};
	static const char *const models[] = {"model=inline", "model=call", "model=linux"};
	struct fixture *fixture = *state;

	for (size_t m = 0; m < COUNT(models); m++) {
		restart(fixture, models[m]);
		for (size_t i = 0; i < COUNT(rows); i++) {
			bool refused = m < 2 ? rows[i].refused : rows[i].refused_in_linux;
			struct kstackrand_decision decision =
				decide(fixture, "f", NULL, rows[i].section, BY_ATTRIBUTE);

			if (decision.verdict !=
			    (refused ? KSTACKRAND_REFUSED : KSTACKRAND_ENTRY_CHOSEN))
				fail_msg("%s, %s", rows[i].section, models[m]);
			if (refused) {
				char *section = kstackrand_format("%s", rows[i].section);

				if (strstr(section, "text.f"))
					*strstr(section, ".f") = '\0';
				assert_non_null(strstr(decision.reason, section));
				free(section);
			}
		}
	}
}

static void test_because_is_printable(void **state)
{
	struct fixture *fixture = *state;
	char *argument = repeat("entry=\x1b", 1, "*");
	struct kstackrand_decision decision;

	accept(fixture, argument);
	decision = decide(fixture, "\x1b[1m", NULL, NULL, 0);
	assert_string_equal(decision.because, "entry '\\x1b*'");
	free(argument);

	argument = repeat("*?", 500, "");
	restart(fixture, NULL);
	assert_true(kstackrand_policy_argument(fixture->policy, "o", "entry", argument,
	                                       &fixture->error));
	free(argument);
	argument = repeat("x", 500, "");
	decision = decide(fixture, argument, NULL, NULL, 0);
	assert_int_equal(strlen(decision.because), strlen("entry '...'") + 320);
	free(argument);
}

/* Hostile input. */

struct match {
	struct fixture *fixture;
	const char *name;
	bool chosen;
};

static void *run_match(void *argument)
{
	struct match *match = argument;

	match->chosen =
		decide(match->fixture, "_Z", match->name, NULL, 0).verdict != KSTACKRAND_NOT_CHOSEN;
	return NULL;
}

/* On a stack of 64 KiB, in a time in which nothing exponential ends. */
static bool match_in_small_thread(struct fixture *fixture, const char *name)
{
	struct match match = {fixture, name, false};
	pthread_attr_t attributes;
	pthread_t thread;

	assert_int_equal(pthread_attr_init(&attributes), 0);
	assert_int_equal(pthread_attr_setstacksize(&attributes, 64 * 1024), 0);
	assert_int_equal(pthread_create(&thread, &attributes, run_match, &match), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	pthread_attr_destroy(&attributes);
	return match.chosen;
}

static void test_hostile_globs(void **state)
{
	static const struct {
		const char *piece;
		size_t count;
		const char *tail;
		bool match;
	} rows[] = {
		/* Many stars; then one star and the longest tail that almost matches. */
		{"a*", 511, "b", false},   {"a*", 509, "[!a]", false},
		{"a*", 511, "", true},     {"?*", 511, "b", false},
		{"[a]*", 255, "b", false}, {"[!b]*", 204, "b", false},
		{"[*", 511, "b", false},   {"[[:alpha:]]*", 84, "b", false},
		{"a", 1022, "b", false},   {"[a]", 340, "b", false},
		{"a", 1023, "", true},     {"[[:alpha:]]", 92, "b", false},
	};
	struct fixture *fixture = *state;
	char *name = repeat("a", 100 * 1024, "");

	alarm(30);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *glob = repeat(rows[i].piece, rows[i].count, rows[i].tail);
		char *argument = kstackrand_format("entry=*%s", glob);

		restart(fixture, argument);
		assert_int_equal(match_in_small_thread(fixture, name), rows[i].match);
		free(glob);
		free(argument);
	}
	alarm(0);
	free(name);
}

static void test_hostile_names(void **state)
{
	static const char *const pieces[] = {
		"(",          ")",       "()",      ")(",    "(*", "[",         "]",
		"[clone ]",   "[abi:x]", "const ",  "const", "&",  "(.a)",      " (.a)",
		"operator()", "(*(",     ")(int))", "<",     "::", "[clone (.", "\xff",
	};
	struct fixture *fixture = *state;

	char *stars = repeat("(*", 200000, "f");
	char *lists = repeat(")()", 200000, "");
	char *nested = kstackrand_format("%s%s", stars, lists);

	accept(fixture, "entry=nothing");
	alarm(30);
	/* Function pointers in each other: at every level the rest, to the end. */
	assert_false(match_in_small_thread(fixture, nested));
	free(stars);
	free(lists);
	free(nested);
	for (size_t i = 0; i < COUNT(pieces); i++) {
		for (size_t j = 0; j < COUNT(pieces); j++) {
			char *left = repeat(pieces[i], 20000, "f");
			char *right = repeat(pieces[j], 20000, "");
			char *name = kstackrand_format("%s%s", left, right);

			assert_false(match_in_small_thread(fixture, name));
			free(left);
			free(right);
			free(name);
		}
	}
	alarm(0);
}

static void test_many_globs(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 1000; i++) {
		char *argument = kstackrand_format("entry=f%d", i);

		accept(fixture, argument);
		free(argument);
	}
	assert_true(chosen(fixture, "f0"));
	assert_true(chosen(fixture, "f999"));
	assert_false(chosen(fixture, "f1000"));
}

/* In a child, whose memory ends. */
static void test_out_of_memory(void **state)
{
	struct fixture *fixture = *state;
	char said[128] = "";
	int ends[2];
	int status;
	pid_t child;

#if defined(__SANITIZE_ADDRESS__)
	skip(); /* its allocator ends the process by itself */
#endif
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		const struct rlimit limit = {0, 0};

		if (dup2(ends[1], STDERR_FILENO) < 0 || setrlimit(RLIMIT_AS, &limit) != 0)
			_exit(2);
		for (int i = 0; i < 1000000; i++)
			kstackrand_policy_argument(fixture->policy, "entry=f", "entry", "f",
			                           &fixture->error);
		_exit(3);
	}
	close(ends[1]);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_string_equal(said, "kstackrand: error: out of memory\n");
}

/* xorshift64: the same inputs on every machine. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static const char *const corpus[] = {
	"# comment\nentry handle_*\nexcept *_init\nmodel call\nbits 6\nrng fast\nverbose\n",
	"policy alpha\npolicy nested\nreseed *tick\r\nwerror\r\ndisable\r\n",
	"entry=handle_*\nexcept=*a\nbits=3\nmodel=linux\npolicy=alpha\nrng=fast\nverbose",
	"ns::Server::handle(int) const & [clone .cold]\n",
	"void (*ns::get<int>(char))(int)\nmain::{lambda(int)#1}::operator()(int) const\n",
	"entry [[:alpha:]]*\\*[!a-z]?\nentry *a*b*c\n",
	"\xef\xbb\xbf",
	"entry ",
	"bits ",
	"policy ",
	"except=",
	"model",
	"\0",
	"\r\n",
	"=",
	"*",
	"[",
	"]",
	"(",
	")",
	"\\",
	"operator()",
	"(anonymous namespace)::",
	"[abi:cxx11]",
	"\xe2\x80",
};

/* A few pieces of the corpus, then a few bytes changed. */
static size_t make_input(uint64_t *seed, uint8_t *input, size_t capacity)
{
	size_t size = 0;

	for (uint64_t pieces = next_random(seed) % 6; pieces; pieces--) {
		const char *piece = corpus[next_random(seed) % COUNT(corpus)];
		size_t length = strlen(piece);

		if (size + length > capacity)
			break;
		memcpy(input + size, piece, length);
		size += length;
	}
	for (uint64_t changes = next_random(seed) % 8; size && changes; changes--) {
		size_t place = next_random(seed) % size;

		switch (next_random(seed) % 3) {
		case 0:
			input[place] = (uint8_t)next_random(seed);
			break;
		case 1:
			memmove(input + place, input + place + 1, size - place - 1);
			size--;
			break;
		default:
			input[place] ^= (uint8_t)(1U << next_random(seed) % 8);
			break;
		}
	}
	return size;
}

static void test_fuzz(void **state)
{
	uint64_t seed = 0x6b737461636b72;
	uint8_t input[1024];

	(void)state;
	for (int i = 0; i < 30000; i++)
		LLVMFuzzerTestOneInput(input, make_input(&seed, input, sizeof(input)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(test_defaults),
		TEST(test_bits),
		TEST(test_bad_bits),
		TEST(test_words),
		TEST(test_settings_that_do_not_go_together),
		TEST(test_flags),
		TEST(test_last_word_counts),
		TEST(test_help),
		TEST(test_bad_arguments),
		TEST(test_glob_length),
		TEST(test_printable),
		TEST(test_long_errors),
		TEST(test_file),
		TEST(test_file_forms),
		TEST(test_bad_lines),
		TEST(test_line_length),
		TEST(test_file_size),
		TEST(test_unreadable),
		TEST(test_no_permission),
		TEST(test_no_leaked_descriptor),
		TEST(test_files_in_files),
		TEST(test_nesting),
		TEST(test_fan_out),
		TEST(test_presets),
		TEST(test_bad_presets),
		TEST(test_embedding),
		TEST(test_shipped_presets),
		TEST(test_globs),
		TEST(test_locale_is_left_alone),
		TEST(test_bare_names),
		TEST(test_names),
		TEST(test_reseed),
		TEST(test_reseed_refusals),
		TEST(test_decisions),
		TEST(test_dot_is_a_name),
		TEST(test_refusals),
		TEST(test_noted_refusals),
		TEST(test_sections),
		TEST(test_because_is_printable),
		TEST(test_hostile_globs),
		TEST(test_hostile_names),
		TEST(test_many_globs),
		TEST(test_out_of_memory),
		TEST(test_fuzz),
	};

	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
