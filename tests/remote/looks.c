/*
 * A buffer that is off and empty is not loaded, however many look whether it is: who looks is no reader.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "remote/hosted_lab.h"
#include "remote/remote.h"

#define LOOKS (SANITIZED ? 300 : 3000)
#define LOOKERS 3

static int dir;

static void *look(void *data)
{
	struct remote *remote;

	(void)data;
	CHECK(!remote_open(&remote, dir, "board", NULL), "open");
	for (int i = 0; i < LOOKS; i++)
		CHECK(!remote_is_loaded(remote), "loaded, as look %d finds", i);
	remote_close(remote);
	return NULL;
}

int main(void)
{
	const struct ringside_fw_hosted_how how = { .nr_rings = 1, .nr_pages = 2, .page_shift = 8, .nr_events = LAB_EVENTS };
	const char *scratch = getenv("RINGSIDE_SCRATCH");
	size_t size = ringside_fw_hosted_size(&how);
	pthread_t lookers[LOOKERS];
	struct remote_place place;
	struct err err = ERR_INIT;
	char path[4096];
	void *base;
	int fd;

	snprintf(path, sizeof(path), "%s/memory", scratch);
	place = (struct remote_place){ .memory = path };
	dir = open(scratch, O_RDONLY | O_DIRECTORY);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	CHECK(dir >= 0 && fd >= 0 && !ftruncate(fd, (off_t)size), "%s: %s", path, strerror(errno));
	base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(base != MAP_FAILED && !ringside_fw_hosted_init(base, size, &how), "writer");
	CHECK(!remote_add(dir, "board", &place, &err), "%s", err.text);
	for (int i = 0; i < LOOKERS; i++)
		CHECK(!pthread_create(&lookers[i], NULL, look, NULL), "thread");
	for (int i = 0; i < LOOKERS; i++)
		pthread_join(lookers[i], NULL);
	munmap(base, size);
	return 0;
}
