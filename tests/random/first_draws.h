/* SPDX-License-Identifier: MIT */
#ifndef FIRST_DRAWS_H
#define FIRST_DRAWS_H

/* How many draws of each thread or child are written down, one after the other. */
#define FIRST_DRAWS 16

#endif
