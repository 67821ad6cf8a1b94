/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/base/log.h"
#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/skube/list.h"
#include "src/skube/views.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;

namespace
{

std::string g_line;

void remember(LogLevel, const char *line)
{
	g_line = line;
}

void control_characters_become_question_marks()
{
	CHECK_EQUAL(printable("a\nb\x1b[31m\x7f"), "a?b?[31m?");
	CHECK_EQUAL(printable("\xc2\x9b"
			      "1m \xc3\xa4 \xc2\xa0 \xe2\x82\xac"),
		"??1m \xc3\xa4 \xc2\xa0 \xe2\x82\xac");
	CHECK_EQUAL(printable(std::string("a\0b", 3)), "a?b");
	CHECK_EQUAL(printable(""), "");
}

/* As a text that was cut in the middle of a character. */
void what_is_not_utf8_becomes_question_marks()
{
	struct Row {
		const char *text, *printable;
	};
	const Row rows[] = {{"cut \xe6\xbc", "cut ??"}, {"\xff|\xbc", "?|?"},
		{"overlong \xc0\xaf \xe0\x80\xaf", "overlong ?? ???"},
		{"surrogate \xed\xa0\x80", "surrogate ???"}, {"\xf4\x90\x80\x80", "????"},
		{"\xf0\x9f\x98\x80 \xe6\xbc\xa2", "\xf0\x9f\x98\x80 \xe6\xbc\xa2"}, {"\xc3", "?"},
		{"\xe6(", "?("}};
	for (const Row &row : rows)
		CHECK_EQUAL(printable(row.text), row.printable);
}

void what_others_wrote_makes_no_second_log_line()
{
	log_open(remember, LogLevel::info);
	log_info("pod refused: error=%s", "no\n<3>root logged in");
	CHECK_EQUAL(g_line, "pod refused: error=no?<3>root logged in");
	log_open(nullptr, LogLevel::info);
}

void a_reply_cannot_steer_the_terminal()
{
	const auto reply = codec::parse_json(
		R"({"checks":[{"name":"kube","text":"x\u001b[2J\nok    all fine",)"
		R"("remedy":"\u0007"}],"lines":["a\nb"],"version":"\u001bc"})",
		1000);
	REQUIRE(reply.ok());
	CHECK_EQUAL(
		skube::check_view(reply->get()), "FAIL  kube: x?[2J?ok    all fine\n      -> ?\n");
	CHECK(skube::slurm_conf_view(reply->get()).ends_with("\na?b\n"));
	CHECK(skube::ping_view(reply->get()).starts_with("slurmkubed ?c is up"));
}

void a_start_time_that_cannot_be_is_no_time()
{
	const auto reply = codec::parse_json(
		R"({"jobs":[{"start_time":-9223372036854775808,"state":"running"}]})", 1000);
	REQUIRE(reply.ok());
	CHECK(skube::list_text(skube::jobs_list(), reply->get(), {.now = 1'790'000'000})
			.find("0:00") != std::string::npos);
}

} // namespace

int main()
{
	return check::run_tests("text",
		{
			TEST(control_characters_become_question_marks),
			TEST(what_is_not_utf8_becomes_question_marks),
			TEST(what_others_wrote_makes_no_second_log_line),
			TEST(a_reply_cannot_steer_the_terminal),
			TEST(a_start_time_that_cannot_be_is_no_time),
		});
}
