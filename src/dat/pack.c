/*
 * dat/pack: see pack.h. Here is only the choice; the work is done by the one file of each library.
 */
#include "dat/pack.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "dat/codec.h"

struct pack {
	const struct codec *codec;
	void *state;
};

/* All that trace files are known to name, the preferred one first; those left out have no codec. */
static const struct choice {
	const char *name;
	const struct codec *codec;
} choices[] = {
#if DAT_ZSTD
	{ "zstd", &codec_zstd },
#else
	{ "zstd", NULL },
#endif
#if DAT_ZLIB
	{ "zlib", &codec_zlib },
#else
	{ "zlib", NULL },
#endif
};

#define NCHOICES (sizeof(choices) / sizeof(choices[0]))

static const struct choice *choice_of(const char *name)
{
	for (size_t i = 0; i < NCHOICES; i++)
		if (!strcmp(choices[i].name, name))
			return &choices[i];
	return NULL;
}

int pack_open(struct pack **out, const char *name, struct err *err)
{
	const struct choice *choice = choice_of(name);
	struct pack *pack;

	*out = NULL;
	if (!choice)
		return err_set(err, -ENOTSUP, "there is no compression '%.60s': zstd and zlib are "
			       "known", name);
	if (!choice->codec)
		return err_set(err, -ENOTSUP, "this build cannot read or write %s", name);
	pack = calloc(1, sizeof(*pack));
	if (!pack)
		return err_set(err, -ENOMEM, "out of memory");
	pack->codec = choice->codec;
	pack->state = pack->codec->open();
	if (!pack->state) {
		free(pack);
		return err_set(err, -ENOMEM, "out of memory");
	}
	*out = pack;
	return 0;
}

void pack_close(struct pack *pack)
{
	if (!pack)
		return;
	pack->codec->close(pack->state);
	free(pack);
}

const char *pack_called(const struct pack *pack)
{
	return pack->codec->name;
}

const char *pack_version(const struct pack *pack)
{
	return pack->codec->version();
}

size_t pack_bound(const struct pack *pack, size_t len)
{
	return pack->codec->bound(len);
}

/* Results are longs: what does not fit into one is not asked for. */
static size_t cut(size_t room)
{
	return room < LONG_MAX ? room : LONG_MAX;
}

long pack_shrink(struct pack *pack, const void *from, size_t len, void *to, size_t room)
{
	return pack->codec->shrink(pack->state, from, len, to, cut(room));
}

long pack_expand(struct pack *pack, const void *from, size_t len, void *to, size_t room)
{
	return pack->codec->expand(pack->state, from, len, to, cut(room));
}

const char *pack_name(size_t i)
{
	for (size_t c = 0; c < NCHOICES; c++)
		if (choices[c].codec && !i--)
			return choices[c].name;
	return NULL;
}
