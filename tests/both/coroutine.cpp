// SPDX-License-Identifier: MIT
// A coroutine as an entry: its first call shifts, its frame on the heap and its
// later turns are as they were.
// RUN: %plain_cc -O1 -c %support/witness.c -o %t.witness.o
// RUN: for level in 0 1 2 s; do \
// RUN:   %cxx -std=c++20 %coroutines -O$level '-fplugin-arg-kstackrand-entry=*entry_*' -I%support %s %t.witness.o %libs -o %t && \
// RUN:   %run %t || exit 1; \
// RUN: done
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <witness.h>

struct Task {
	struct promise_type {
		int value = 0;
		Task get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_never initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
			std::terminate();
		}
	};
	std::coroutine_handle<promise_type> handle;
};

Task entry_count(int from, int to)
{
	char bytes[64] = {};

	for (int i = from; i < to; i++) {
		opaque(bytes);
		witness();
		co_yield i;
	}
}

int main()
{
	for (int i = 0; i < 300; i++) {
		Task task = entry_count(0, 10);
		int sum = 0;

		while (!task.handle.done()) {
			sum += task.handle.promise().value;
			task.handle.resume();
		}
		task.handle.destroy();
		if (sum != 45) {
			std::fprintf(stderr, "sum %d\n", sum);
			return 1;
		}
	}
	return 0;
}
