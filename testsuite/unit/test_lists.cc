/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What skube prints of lists: widths, colours, ages, and what --watch appends. */
#include "src/codec/json.h"
#include "src/skube/list.h"
#include "src/skube/watch.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::skube;

namespace
{

Table table(const std::string &state, const std::string &text)
{
	Table one({{"ID", true}, {"STATE", false, true}, {"REASON"}});
	one.add({"7", state, text});
	return one;
}

void a_line_is_cut_in_its_last_column_only()
{
	struct {
		std::size_t width;
		const char *text, *line;
	} const rows[] = {
		{0, "a reason that is rather long", " 7  IDLE   a reason that is rather long"},
		{40, "a reason that is rather long", " 7  IDLE   a reason that is rather long"},
		{39, "a reason that is rather long", " 7  IDLE   a reason that is rather long"},
		{38, "a reason that is rather long", " 7  IDLE   a reason that is rather ..."},
		{30, "a reason that is rather long", " 7  IDLE   a reason that is..."},
		/* at least 16 characters, so that something can be read */
		{5, "a reason that is rather long", " 7  IDLE   a reason that..."},
		{30, "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc",
			" 7  IDLE   "
			"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc"},
		{5, "\xc3\xa4\xc3\xb6\xc3\xbc 456789012345",
			" 7  IDLE   "
			"\xc3\xa4\xc3\xb6\xc3\xbc 456789012345"},
		{5, "\xc3\xa4\xc3\xb6\xc3\xbc 4567890123456",
			" 7  IDLE   "
			"\xc3\xa4\xc3\xb6\xc3\xbc 456789012..."},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(table("IDLE", row.text).text({.width = row.width}),
			std::string("ID  STATE  REASON\n") + row.line + "\n");
}

void only_states_have_colours()
{
	struct {
		const char *state, *color;
	} const rows[] = {
		{"RUNNING", ""},
		{"COMPLETED", ""},
		{"FAILED", "\x1b[31m"},
		{"NODE_FAIL", "\x1b[31m"},
		{"OUT_OF_MEMORY", "\x1b[31m"},
		{"DOWN+DRAIN", "\x1b[31m"},
		{"PENDING", "\x1b[33m"},
		{"IDLE+DRAIN", "\x1b[33m"},
		{"Ready,cordoned", "\x1b[33m"},
		{"NotReady", "\x1b[31m"},
	};
	for (const auto &row : rows) {
		const std::string off = *row.color ? "\x1b[0m" : "";
		const Table one = table(row.state, "FAILED");
		CHECK(one.text({.has_color = true})
				.ends_with("  " + std::string(row.color) + row.state + off +
					"  FAILED\n"));
		CHECK(one.text().find('\x1b') == std::string::npos);
	}
}

void an_age_has_two_units_at_most()
{
	struct {
		std::int64_t seconds;
		const char *text;
	} const rows[] = {
		{-5, "0s"},
		{0, "0s"},
		{119, "119s"},
		{120, "2m"},
		{252, "4m12s"},
		{3599, "59m59s"},
		{3600, "1h"},
		{11100, "3h5m"},
		{86399, "23h59m"},
		{86400, "1d"},
		{187200, "2d4h"},
		{8640000, "100d"},
	};
	for (const auto &row : rows)
		CHECK_EQUAL(age_text(row.seconds), row.text);
}

codec::Json nodes(const char *rows)
{
	auto reply = codec::parse_json(R"({"nodes":[)" + std::string(rows) + "]}", 10000);
	CHECK(reply.ok());
	return std::move(reply).value();
}

constexpr char k_idle[] = R"({"name":"n2","slurm_state":"idle","kube_state":"Ready"})";
constexpr char k_mixed[] = R"({"name":"n2","slurm_state":"mixed+drain","kube_state":"Ready"})";
constexpr char k_other[] = R"({"name":"n10","slurm_state":"idle","kube_state":"Ready"})";

void a_watch_appends_what_has_changed()
{
	Watch watch(nodes_list());
	const std::string both = std::string(k_other) + "," + k_idle;
	const std::string first = watch.update(nodes(both.c_str()).get(), {});
	CHECK(first.starts_with("NODE  KUBERNETES  SLURM"));
	CHECK(first.find("\nn2 ") < first.find("\nn10 "));
	CHECK_EQUAL(watch.update(nodes(both.c_str()).get(), {}), "");
	const std::string changed =
		watch.update(nodes((std::string(k_mixed) + "," + k_other).c_str()).get(), {});
	CHECK(changed.starts_with("n2    Ready       MIXED+DRAIN  "));
	CHECK(changed.find("n10") == std::string::npos);
	/* the columns stay as wide as they have become */
	const std::string again = watch.update(nodes(both.c_str()).get(), {});
	CHECK(again.starts_with("n2    Ready       IDLE         "));
	CHECK_EQUAL(watch.update(nodes(k_idle).get(), {}), "");
	CHECK(watch.update(nodes(both.c_str()).get(), {}).starts_with("n10 "));
}

void an_age_is_no_change()
{
	Watch watch(pods_list());
	const auto reply = codec::parse_json(
		R"({"pods":[{"namespace":"a","name":"b","created":100,"phase":"Running"}]})", 1000);
	REQUIRE(reply.ok());
	CHECK(watch.update(reply->get(), {.now = 130}).find(" 30s ") != std::string::npos);
	CHECK_EQUAL(watch.update(reply->get(), {.now = 140}), "");
}

void a_watch_of_json_has_a_line_per_row()
{
	Watch watch(nodes_list());
	const Look look{.format = Format::json};
	CHECK_EQUAL(watch.update(nodes(k_idle).get(), look), std::string(k_idle) + "\n");
	CHECK_EQUAL(watch.update(nodes(k_idle).get(), look), "");
	CHECK_EQUAL(watch.update(nodes(k_mixed).get(), look), std::string(k_mixed) + "\n");
}

} // namespace

int main()
{
	return check::run_tests("lists",
		{
			TEST(a_line_is_cut_in_its_last_column_only),
			TEST(only_states_have_colours),
			TEST(an_age_has_two_units_at_most),
			TEST(a_watch_appends_what_has_changed),
			TEST(an_age_is_no_change),
			TEST(a_watch_of_json_has_a_line_per_row),
		});
}
