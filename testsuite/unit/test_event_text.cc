/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What skube watch prints for each line of the agent. */
#include "src/codec/json.h"
#include "src/skube/event_text.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;

namespace
{

constexpr char k_first[] = R"({"ok":true,"watch":1,"version":"0.1.0","kinds":["pods"]})";
constexpr char k_synced[] = R"({"type":"synced"})";

struct Printed {
	skube::EventText text;
	std::string of(const std::string &line)
	{
		const auto event = codec::parse_json(line, 1 << 20);
		CHECK(event.ok());
		return event ? text.of(event->get(), "12:00:00") : "";
	}
	std::string pod(const std::string &type, const std::string &members)
	{
		return of(R"({"type":")" + type +
			R"(","kind":"pod","object":{"namespace":"lab","name":"p","uid":"u")" +
			members + "}}");
	}
};

void each_row()
{
	const struct {
		const char *line, *text;
	} rows[] = {
		{k_first, ""},
		{k_synced, ""},
		{R"({"type":"alive","ready":true})", ""},
		{R"({"type":"closed","reason":"x"})", ""},
		{R"({"type":"added","kind":"claim","object":{"name":"c"}})", ""},
		{R"({"type":"renamed","kind":"pod","object":{"uid":"c"}})", ""},
		{R"({"type":"added","kind":"pod"})", ""},
		{R"([1])", ""},
		{R"({"type":"added","kind":"pod","object":{"namespace":"lab","name":"q","uid":"1",)"
		 R"("phase":"Pending","node":"","job":12,"job_state":"pending","waiting_for":)"
		 R"("Slurm job 12 waits: Resources"}})",
			"pod lab/q: Pending, job 12 PENDING, Slurm job 12 waits: Resources\n"},
		{R"({"type":"added","kind":"job","object":{"id":12,"namespace":"lab","pod":"q",)"
		 R"("state":"pending","reason":"Resources","node":"","node_count":0}})",
			"job 12 lab/q: PENDING Resources\n"},
		{R"({"type":"added","kind":"job","object":{"id":13,"namespace":"lab","pod":"g",)"
		 R"("state":"running","reason":"None","node":"n1","node_count":3}})",
			"job 13 lab/g: RUNNING, on n1 and 2 more\n"},
		{R"({"type":"added","kind":"job","object":{"id":14,"namespace":"lab","pod":"e",)"
		 R"("state":"failed","reason":"","node":"n1","node_count":1,"exit_status":768}})",
			"job 14 lab/e: FAILED, exit 3:0\n"},
		{R"({"type":"gone","kind":"job","object":{"id":15}})", "job 15: gone\n"},
		{R"({"type":"added","kind":"node","object":{"name":"n1","kube_state":"Ready",)"
		 R"("cordoned":true,"slurm_state":"idle+drain","slurm_reason":"disk\u001b[2J"}})",
			"node n1: Ready,cordoned, Slurm IDLE+DRAIN, disk?[2J\n"},
	};
	for (const auto &row : rows) {
		const std::string wanted =
			*row.text ? "12:00:00 " + std::string(row.text) : std::string();
		CHECK_EQUAL(Printed().of(row.line), row.line[0] == '[' ? "" : wanted);
	}
}

void what_has_changed()
{
	Printed printed;
	CHECK_EQUAL(printed.pod("added", R"(,"phase":"Pending","waiting_for":"room")"),
		"12:00:00 pod lab/p: Pending, room\n");
	CHECK_EQUAL(printed.pod("changed", R"(,"phase":"Pending","waiting_for":"room")"), "");
	CHECK_EQUAL(printed.pod("changed", R"(,"phase":"Pending","node":"n1")"),
		"12:00:00 pod lab/p: on n1\n");
	CHECK_EQUAL(printed.pod("changed", R"(,"phase":"Running","node":"n1")"),
		"12:00:00 pod lab/p: Running\n");
	CHECK_EQUAL(printed.pod("gone", ""), "12:00:00 pod lab/p: gone\n");
}

/* skube has connected again: the agent tells everything once more. */
void a_new_list_is_compared_with_the_last()
{
	Printed printed;
	(void)printed.of(k_first);
	(void)printed.pod("added", R"(,"phase":"Pending")");
	(void)printed.of(
		R"({"type":"added","kind":"job","object":{"id":7,"namespace":"lab","pod":"p"}})");
	(void)printed.of(k_synced);
	CHECK_EQUAL(printed.of(k_first), "");
	CHECK_EQUAL(printed.pod("added", R"(,"phase":"Running")"), "12:00:00 pod lab/p: Running\n");
	CHECK_EQUAL(printed.of(k_synced), "12:00:00 job 7 lab/p: gone\n");
	CHECK_EQUAL(printed.of(k_synced), "");
}

} // namespace

int main()
{
	return check::run_tests("event_text",
		{
			TEST(each_row),
			TEST(what_has_changed),
			TEST(a_new_list_is_compared_with_the_last),
		});
}
