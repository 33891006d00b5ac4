/*
 * A claim that ends the test, with words, when it does not hold.
 */
#ifndef TESTS_INSIST_H
#define TESTS_INSIST_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond, ...)                                                                           \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #cond);                 \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#endif
