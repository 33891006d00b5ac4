/*
 * A record as a JSON line: every kind of field, text that is no UTF-8, records cut short, unknown
 * IDs.
 */
#include <math.h>

#include "../decode/event.h"
#include "report/json.h"

static const char *comm(void *arg, int pid)
{
	(void)arg;
	return pid == 4242 ? "shop \"1\"" : NULL;
}

static const struct decode_ctx ctx = {.comm = comm};

static void expect(int at, const struct decode_format *f, const void *rec, uint32_t len,
		   const char *want)
{
	struct buf out = BUF_INIT;

	report_json_line(
		&out,
		&(struct report_row){
			.ts = 1234567890123, .cpu = 1, .format = f, .data = rec, .len = len},
		&ctx);
	check_text(__FILE__, at, "json", out.data, want);
	buf_fini(&out);
}

int main(void)
{
	struct decode_format *f = sample_format("\"\"");
	struct sample r = sample_record();
	struct buf out = BUF_INIT;

	expect(__LINE__, f, &r, sizeof(r),
	       "{\"ts\":1234567890123,\"cpu\":1,\"pid\":4242,\"comm\":\"shop \\\"1\\\"\","
	       "\"system\":\"test\","
	       "\"event\":\"sample\",\"fields\":{\"s8\":-8,\"u8\":200,\"s16\":-1600,\"u16\":60000,"
	       "\"s32\":-320000,"
	       "\"u32\":4000000000,\"s64\":-64000000000,\"u64\":18364758544493064720,\"f\":1.5,"
	       "\"flags\":21,"
	       "\"d\":-2.25,\"ptr\":\"0xffff888012345678\",\"name\":\"shop\",\"arr\":[1,2,"
	       "4294967295,4],"
	       "\"mac\":[0,27,33,171,205,239],\"yes\":true,\"text\":\"green tea\",\"mask\":[15,1],"
	       "\"nums\":[7,8,65535]}}\n");

	r.head.pid = 1;
	r.f = NAN;
	r.d = -INFINITY;
	r.yes = 0;
	memcpy(r.name, "\xff\xc3\xa9\xed\xa0\x80\n\x01\x7f\"\\\xf0\x9f\x98", 15);
	r.text = r.mask = r.nums = 0xffffffff;
	expect(__LINE__, f, &r, sizeof(r),
	       "{\"ts\":1234567890123,\"cpu\":1,\"pid\":1,\"comm\":null,\"system\":\"test\","
	       "\"event\":\"sample\",\"fields\":{\"s8\":-8,\"u8\":200,\"s16\":-1600,\"u16\":60000,"
	       "\"s32\":-320000,"
	       "\"u32\":4000000000,\"s64\":-64000000000,\"u64\":18364758544493064720,"
	       "\"f\":\"NaN\",\"flags\":21,"
	       "\"d\":\"-Infinity\",\"ptr\":\"0xffff888012345678\","
	       "\"name\":\"\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\\n\\u0001\\u007f\\\"\\\\\\ufffd\\u"
	       "fffd\\ufffd\","
	       "\"arr\":[1,2,4294967295,4],\"mac\":[0,27,33,171,205,239],\"yes\":false,"
	       "\"text\":\"\",\"mask\":[],"
	       "\"nums\":[]}}\n");
	expect(__LINE__, f, &r, 10,
	       "{\"ts\":1234567890123,\"cpu\":1,\"pid\":1,\"comm\":null,\"system\":\"test\","
	       "\"event\":\"sample\","
	       "\"fields\":{\"s8\":-8,\"u8\":200,\"s16\":null,\"u16\":null,\"s32\":null,"
	       "\"u32\":null,\"s64\":null,"
	       "\"u64\":null,\"f\":null,\"flags\":null,\"d\":null,\"ptr\":null,\"name\":\"\","
	       "\"arr\":[],\"mac\":[],"
	       "\"yes\":null,\"text\":\"\",\"mask\":[],\"nums\":[]}}\n");
	expect(__LINE__, NULL, &r, 10,
	       "{\"ts\":1234567890123,\"cpu\":1,\"pid\":1,\"comm\":null,\"system\":null,"
	       "\"event\":null,"
	       "\"fields\":{\"common_type\":32768,\"data\":\"008005210100"
	       "0000f8c8\"}}\n");
	report_json_string(&out, "a\tb", 3);
	check_text(__FILE__, __LINE__, "string", out.data, "\"a\\tb\"");
	buf_fini(&out);
	decode_format_free(f);
	return failures ? 1 : 0;
}
