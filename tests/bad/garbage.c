/*
 * Directories filled with random bytes before anybody looks: headers, bodies behind right headers, a right header with a random
 * state, all of it. Programs run on in silence, commands say at most one line, and nobody crashes or hangs (R13, R16).
 *
 *	garbage [ROUNDS [FIRST-SEED]]
 */
#include "bad/bad.h"

#include "base/crc32c.h"

static const char *const files[] = { "control", "registry", "rings", "tables", "plans" };
static char dir[3000];

static void scribble(int fd, uint64_t from, uint64_t to, uint64_t *dice, uint32_t density)
{
	for (uint64_t at = from; at < to; at += 4096) {
		unsigned char page[4096];
		size_t len = (size_t)(to - at < 4096 ? to - at : 4096);

		/* Far into a sparse file only now and then. */
		if (at > (2u << 20) && draw(dice) % 64)
			continue;
		if (pread(fd, page, len, (off_t)at) < 0)
			return;
		for (size_t i = 0; i < len; i += 4)
			if (draw(dice) % density == 0) {
				uint32_t word = draw(dice) % 4 ? draw(dice) : draw(dice) % 64;

				memcpy(page + i, &word, len - i < 4 ? len - i : 4);
			}
		CHECK(pwrite(fd, page, len, (off_t)at) == (ssize_t)len, "%s", strerror(errno));
	}
}

static int open_file(int which, uint64_t *size)
{
	char path[3100];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, files[which]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0, "%s: %s", path, strerror(errno));
	*size = (uint64_t)lseek(fd, 0, SEEK_END);
	return fd;
}

/* A state whose checksum holds and whose words are somebody's. */
static void forge_state(uint64_t *dice)
{
	uint64_t published, size, place;
	struct state_head head;
	int fd = open_file(0, &size);
	char *bytes;

	CHECK(pread(fd, &published, 8, offsetof(struct control_head, published)) == 8, "published");
	place = (published & CONTROL_PLACE_MASK) * 4096;
	CHECK(pread(fd, &head, sizeof(head), (off_t)place) == sizeof(head), "state");
	bytes = malloc(head.size);
	CHECK(pread(fd, bytes, head.size, (off_t)place) == (ssize_t)head.size, "state");
	for (int n = draw(dice) % 8; n >= 0; n--) {
		/* Words behind the head, and those of the head that say where things are. */
		uint32_t at = draw(dice) % 4 ? 56 + draw(dice) % (head.size - 60) / 4 * 4 : 16 + draw(dice) % 6 * 4;
		uint32_t word = draw(dice) % 2 ? draw(dice) : draw(dice) % 100000;

		memcpy(bytes + at, &word, 4);
	}
	/* Half of them: a shape that no set can have. */
	if (draw(dice) % 2) {
		static const uint32_t odd[] = { 0, 1, 3, 4095, 4097, 1u << 20, (1u << 20) + 1, 1u << 31, UINT32_MAX };
		uint32_t word = odd[draw(dice) % (sizeof(odd) / sizeof(odd[0]))];
		size_t live = sizeof(head) + offsetof(struct state_buffer, live);

		memcpy(bytes + live + (draw(dice) % 2 ? offsetof(struct state_set, npages) :
				       offsetof(struct state_set, page_size)), &word, 4);
	}
	memcpy(&head, bytes, sizeof(head));
	head.crc = 0;
	memcpy(bytes, &head, sizeof(head));
	head.crc = crc32c(0, bytes, head.size);
	memcpy(bytes, &head, sizeof(head));
	CHECK(pwrite(fd, bytes, head.size, (off_t)place) == (ssize_t)head.size, "state");
	free(bytes);
	close(fd);
}

static void harm(int what, int which, uint64_t seed)
{
	uint64_t dice = seed * 0x9e3779b97f4a7c15ull + 1, size;
	uint32_t density = 1u << draw(&dice) % 8;
	int fd;

	if (what == 3) {
		forge_state(&dice);
		return;
	}
	fd = open_file(which, &size);
	switch (what) {
	case 0:
		scribble(fd, 0, 64, &dice, 4);
		break;
	case 1:
		scribble(fd, 64, size, &dice, density);
		break;
	default:
		scribble(fd, 0, size, &dice, density);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	static const char *const whats[] = { "head", "body", "all", "state" };
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : SANITIZED ? 2 : 4, first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint32_t cases = 0;

	if (argc > 1 && !strcmp(argv[1], TRACED))
		return bad_traced();
	command_path();
	for (uint64_t seed = first; seed < first + rounds; seed++)
		for (int what = 0; what < 4; what++)
			for (int which = 0; which < 4; which++, cases++) {
				char name[64];

				snprintf(name, sizeof(name), "%s-%s-%llu", files[which], whats[what],
					 (unsigned long long)seed);
				fresh_directory(dir, sizeof(dir), name, true);
				harm(what, which, seed * 3 + (uint64_t)which);
				program_runs_on(name);
				commands_behave(name, false, dir);
				program_runs_on(name);
			}
	printf("%u directories of garbage\n", cases);
	return 0;
}
