/* SPDX-License-Identifier: MIT */
/* A module that is built without the plugin and loaded into a kernel with it. */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>

static int answer;
module_param(answer, int, 0444);

static int __init plain_init(void)
{
	/* What such a module takes for granted: where fields of a task are. */
	if (current->pid > 0 && current->comm[0])
		answer = 42;
	return 0;
}
module_init(plain_init);

static void __exit plain_exit(void)
{
}
module_exit(plain_exit);

MODULE_LICENSE("Dual MIT/GPL");
