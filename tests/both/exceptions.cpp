// SPDX-License-Identifier: MIT
// Exceptions thrown through entries, destructors on the way, and names: globs
// match what C++ calls a function, with or without its parameters.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 g 1 2 3 s; do for model in inline call; do \
// RUN:   %cxx -O$level -fplugin-arg-kstackrand-model=$model '-fplugin-arg-kstackrand-entry=Server::handle*' \
// RUN:     '-fplugin-arg-kstackrand-entry=twice<int>' '-fplugin-arg-kstackrand-entry=(anonymous namespace)::hidden(int)' \
// RUN:     '-fplugin-arg-kstackrand-entry=Server::Server' -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t || exit 1; \
// RUN: done; done
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <witness.h>

static int destroyed;

struct Witnessed {
	~Witnessed()
	{
		witness();
		destroyed++;
	}
};

struct Server {
	int value;
	__attribute__((noinline)) Server(int v) : value(v)
	{
		at = witness();
	}
	virtual ~Server() = default;
	__attribute__((noinline)) virtual std::string handle_request(int depth) const
	{
		Witnessed guard;

		witness();
		if (depth == 0)
			throw std::runtime_error("thrown");
		return handle_request(depth - 1) + "x";
	}
	__attribute__((noinline)) uintptr_t handle_at() const
	{
		return witness();
	}
	static uintptr_t at;
};

uintptr_t Server::at;

template <typename T> __attribute__((noinline)) uintptr_t twice(T)
{
	return witness();
}

namespace
{
__attribute__((noinline)) uintptr_t hidden(int)
{
	return witness();
}
} // namespace

static uintptr_t method()
{
	static Server server(1);
	return server.handle_at();
}

static uintptr_t constructor()
{
	Server server(1);
	opaque(&server);
	return Server::at;
}

int main()
{
	for (int i = 0; i < 200; i++) {
		Server server(i);
		destroyed = 0;
		try {
			server.handle_request(10);
			return 1;
		} catch (const std::runtime_error &error) {
			if (std::string(error.what()) != "thrown" || destroyed != 11) {
				std::fprintf(stderr, "%s, %d destroyed\n", error.what(), destroyed);
				return 1;
			}
		}
	}
	expect_cells("method", method, 6);
	expect_cells("constructor", constructor, 6);
	expect_cells("template", [] { return twice(1); }, 6);
	expect_cells("anonymous", [] { return hidden(1); }, 6);
	return 0;
}
