// SPDX-License-Identifier: MIT
// Each part that a coroutine is split into has a prologue of its own, and its
// static allocas stand in its entry block. tests/both/coroutine.cpp runs one.
// RUN: for level in 0 2; do \
// RUN:   %plain_cxx -std=c++20 -stdlib=libstdc++ -fplugin=%plugin '-fplugin-arg-kstackrand-entry=entry' -O$level -g -S -emit-llvm %s -o %t.ll && \
// RUN:   grep -c 'asm sideeffect.*xadd' %t.ll | %FileCheck %s || exit 1; \
// RUN: done
// CHECK: {{^[34]$}}
// RUN: %plain_cxx -std=c++20 -stdlib=libstdc++ -fplugin=%plugin -fplugin-arg-kstackrand-entry=entry -fplugin-arg-kstackrand-werror -O1 -c %s -o %t.o
namespace std {
template <class R, class... A> struct coroutine_traits { using promise_type = typename R::promise_type; };
template <class P = void> struct coroutine_handle {
	void *p;
	static coroutine_handle from_address(void *a) { return {a}; }
	template <class Q> coroutine_handle(coroutine_handle<Q> h) : p(h.p) {}
	coroutine_handle(void *a) : p(a) {}
};
} // namespace std

extern void *waiting;

struct always {
	bool await_ready() noexcept { return false; }
	void await_suspend(std::coroutine_handle<> h) noexcept { waiting = h.p; }
	void await_resume() noexcept {}
};
struct task {
	struct promise_type {
		task get_return_object() { return {}; }
		always initial_suspend() noexcept { return {}; }
		always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
};
int outside(int *);

task entry(int x)
{
	outside(&x);
	co_await always{};
	outside(&x);
}
