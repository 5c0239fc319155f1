/* SPDX-License-Identifier: MIT */
/*
 * Asks a DNS server one question many times over UDP and checks each answer.
 *
 *     dns-load HOST PORT COUNT NAME ADDRESS
 *
 * HOST and ADDRESS are IPv4 addresses; ADDRESS is what NAME must resolve to.
 * No question is asked twice: one that goes unanswered counts. Prints one line,
 *
 *     asked 6400 answered 6400 wrong 0 unanswered 0 rate 51234
 *
 * where the rate is right answers a second. Exit status: 0 if every answer came
 * and was right, 1 if not, 2 if it could not ask. Gives up when nothing came
 * for 2 seconds, and after 60 in any case.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define IN_FLIGHT_MAX 16 /* few enough for any socket buffer */
#define SILENCE_SECONDS 2.0
#define TOTAL_SECONDS 60.0

#define HEADER_BYTES 12
#define MESSAGE_BYTES_MAX 512
#define QUESTION_FIXED_BYTES 4 /* type, class */
#define RECORD_FIXED_BYTES 10  /* type, class, time to live, length of data */
#define TYPE_A 1
#define CLASS_IN 1
#define FLAG_RESPONSE 0x8000
#define FLAG_RECURSION_DESIRED 0x0100
#define RCODE_MASK 0x000f

struct load {
	int socket;
	unsigned long count, asked, answered, wrong;
	struct in_addr expected;
	uint8_t question[MESSAGE_BYTES_MAX]; /* a whole message, id 0 */
	size_t question_bytes;
	bool outstanding[1 << 16]; /* by id */
	uint16_t next_id;
	bool refused; /* nobody listens on that port */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint16_t get16(const uint8_t *bytes)
{
	return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void put16(uint8_t *bytes, uint16_t value)
{
	bytes[0] = (uint8_t)(value >> 8);
	bytes[1] = (uint8_t)value;
}

/* The question for NAME's address; false if NAME is no domain name. */
static bool write_question(struct load *load, const char *name)
{
	uint8_t *to = load->question + HEADER_BYTES;

	if (strlen(name) > 253)
		return false;
	put16(load->question + 2, FLAG_RECURSION_DESIRED);
	put16(load->question + 4, 1); /* one question */
	while (*name) {
		size_t label = strcspn(name, ".");

		if (label == 0 || label > 63)
			return false;
		*to++ = (uint8_t)label;
		memcpy(to, name, label);
		to += label;
		name += label;
		if (*name == '.')
			name++;
	}
	*to++ = 0;
	put16(to, TYPE_A);
	put16(to + 2, CLASS_IN);
	load->question_bytes = (size_t)(to - load->question) + QUESTION_FIXED_BYTES;
	return true;
}

/* Whether the message, whose id was checked, is the answer that we expect: no
 * error, our question repeated, and an address record for its name first. */
static bool is_right(const struct load *load, const uint8_t *message, size_t bytes)
{
	const uint8_t *record = message + load->question_bytes + 2;
	uint16_t flags = get16(message + 2);

	if (bytes < load->question_bytes + 2 + RECORD_FIXED_BYTES + sizeof(load->expected))
		return false;
	if (!(flags & FLAG_RESPONSE) || (flags & RCODE_MASK) || get16(message + 4) != 1 ||
	    get16(message + 6) < 1)
		return false;
	if (memcmp(message + HEADER_BYTES, load->question + HEADER_BYTES,
	           load->question_bytes - HEADER_BYTES) != 0)
		return false;
	/* The name of the record: a pointer to the question's. */
	if (get16(record - 2) != (0xc000 | HEADER_BYTES))
		return false;
	return get16(record) == TYPE_A && get16(record + 2) == CLASS_IN &&
	       get16(record + 8) == sizeof(load->expected) &&
	       memcmp(record + RECORD_FIXED_BYTES, &load->expected, sizeof(load->expected)) == 0;
}

/* Sends one question; false when the socket takes no more for now. */
static bool ask(struct load *load)
{
	while (load->outstanding[load->next_id])
		load->next_id++;
	put16(load->question, load->next_id);
	if (send(load->socket, load->question, load->question_bytes, MSG_DONTWAIT) < 0) {
		load->refused = errno == ECONNREFUSED;
		return false;
	}
	load->outstanding[load->next_id++] = true;
	load->asked++;
	return true;
}

/* Takes one message from the socket; false when there is none. */
static bool take_answer(struct load *load)
{
	uint8_t message[MESSAGE_BYTES_MAX];
	ssize_t bytes = recv(load->socket, message, sizeof(message), MSG_DONTWAIT);

	if (bytes < 0) {
		load->refused = errno == ECONNREFUSED;
		return false;
	}
	if (bytes < HEADER_BYTES || !load->outstanding[get16(message)]) {
		load->wrong++;
		return true;
	}
	load->outstanding[get16(message)] = false;
	load->answered++;
	if (!is_right(load, message, (size_t)bytes))
		load->wrong++;
	return true;
}

/* Asks all questions and waits for the answers. Gives back the seconds from
 * the first question to the last answer. */
static double run(struct load *load)
{
	double start = now(), last = start;

	while (load->answered < load->count && !load->refused) {
		struct pollfd ready = {.fd = load->socket, .events = POLLIN};

		while (load->asked < load->count && load->asked - load->answered < IN_FLIGHT_MAX &&
		       ask(load))
			;
		if (poll(&ready, 1, 100) > 0)
			while (take_answer(load))
				last = now();
		if (now() - last > SILENCE_SECONDS || now() - start > TOTAL_SECONDS)
			break;
	}
	return last - start;
}

int main(int argc, char **argv)
{
	static struct load load;
	struct sockaddr_in server = {.sin_family = AF_INET};
	char *end;

	if (argc != 6) {
		fputs("usage: dns-load HOST PORT COUNT NAME ADDRESS\n", stderr);
		return 2;
	}
	unsigned long port = strtoul(argv[2], &end, 10);

	if (inet_pton(AF_INET, argv[1], &server.sin_addr) != 1 || *end || !port || port > 65535) {
		fprintf(stderr, "dns-load: error: no IPv4 address and port: %s %s\n", argv[1],
		        argv[2]);
		return 2;
	}
	load.count = strtoul(argv[3], &end, 10);
	if (*end || !load.count || !write_question(&load, argv[4]) ||
	    inet_pton(AF_INET, argv[5], &load.expected) != 1) {
		fprintf(stderr, "dns-load: error: no count, name and IPv4 address: %s %s %s\n",
		        argv[3], argv[4], argv[5]);
		return 2;
	}
	server.sin_port = htons((uint16_t)port);
	load.socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* Connected: answers from elsewhere never reach us. */
	if (load.socket < 0 || connect(load.socket, (struct sockaddr *)&server, sizeof(server))) {
		perror("dns-load: error: socket");
		return 2;
	}

	double seconds = run(&load);
	unsigned long right = load.answered > load.wrong ? load.answered - load.wrong : 0;

	printf("asked %lu answered %lu wrong %lu unanswered %lu rate %.0f\n", load.asked,
	       load.answered, load.wrong, load.count - load.answered,
	       seconds > 0 ? (double)right / seconds : 0.0);
	return load.answered == load.count && !load.wrong ? 0 : 1;
}
