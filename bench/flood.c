/*
 * Raw markers of a kilobyte each into the file MARKER, so many megabytes a second, for so many seconds: data for who records a kernel,
 * which takes little to make. Prints how many.
 *
 *	flood MARKER MEGABYTES SECONDS
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mono.h"

#define SIZE 1000
#define BURST 16

int main(int argc, char **argv)
{
	char bytes[SIZE] = { 1 };
	unsigned long n = 0;
	double rate, seconds;
	uint64_t began;
	int fd;

	if (argc != 4 || (fd = open(argv[1], O_WRONLY)) < 0)
		return 2;
	rate = atof(argv[2]) * 1e6 / SIZE / 1e9;
	seconds = atof(argv[3]);
	began = mono_ns();
	for (uint64_t now = began; (double)(now - began) < seconds * 1e9; now = mono_ns()) {
		for (int i = 0; i < BURST && (double)n < (double)(now - began) * rate; i++, n++) {
			memcpy(bytes + 4, &n, sizeof(n));
			if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
				return 1;
		}
		if ((double)n >= (double)(now - began) * rate)
			usleep(200);
	}
	printf("%lu\n", n);
	return 0;
}
