/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/options/change.h"
#include "src/core/options/options.h"
#include "src/core/options/timelimit.h"
#include "src/core/reconcile/report.h"
#include "src/core/translate/translate.h"
#include "testsuite/unit/builders.h"
#include "testsuite/unit/check.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace slurmkube;
using namespace slurmkube::core;
using namespace slurmkube::check;

namespace
{

using Annotations = std::map<std::string, std::string>;

constexpr std::int64_t k_created = 1'790'000'000; /* 2026-09-21T14:13:20Z */

/* What an identity rule may grant. */
struct Rights {
	std::vector<std::string> permissions, reservations, wckeys;
};

Policy policy(Rights rights = {})
{
	Policy p;
	p.namespaces = {{.name_space = "*",
		.user_id = 1001,
		.group_id = 100,
		.accounts = {"phys", "shared"},
		.partitions = {"kube", "gpu"},
		.qos = {"normal", "high"},
		.permissions = rights.permissions,
		.reservations = rights.reservations,
		.wckeys = rights.wckeys}};
	p.pods_in_native_jobs = true;
	return p;
}

Rights all_rights()
{
	return {.permissions = {"may_set_priority", "may_use_burst_buffer"},
		.reservations = {"night", "day"},
		.wckeys = {"*"}};
}

Result<JobSpec> with(Annotations annotations, Rights rights = {})
{
	Pod pod = make_pod("a", "p", "u");
	pod.created = k_created;
	pod.requests = make_requests(2000, std::int64_t{1} << 30);
	pod.annotations = std::move(annotations);
	return translate(pod, policy(std::move(rights)), 1);
}

Result<JobSpec> option(const char *name, const char *value, const Rights &rights = all_rights())
{
	return with({{std::string("slurm-kube.io/") + name, value}}, rights);
}

Result<JobSpec> sbatch(const char *text, Rights rights = all_rights())
{
	return option("sbatch", text, std::move(rights));
}

bool refused_with(const Result<JobSpec> &spec, const char *part)
{
	return !spec.ok() && spec.error().what.find(part) != std::string::npos;
}

/* ---- the table ---- */

struct Good {
	const char *name, *value;
	bool (*is_set)(const JobSpec &spec);
};

using S = const JobSpec &;
constexpr Good k_good[] = {
	{"account", "shared", [](S s) { return s.account == "shared"; }},
	{"begin", "now+2hours", [](S s) { return s.options.begin == k_created + 7200; }},
	{"burst-buffer", "capacity=1GB",
		[](S s) { return s.options.burst_buffer == "capacity=1GB"; }},
	{"comment", "two words", [](S s) { return s.comment == "two words"; }},
	{"constraints", "gpu&(v100|a100)",
		[](S s) { return s.options.constraints == "gpu&(v100|a100)"; }},
	{"contiguous", "true", [](S s) { return s.options.contiguous; }},
	{"core-spec", "1", [](S s) { return s.options.core_spec == 1; }},
	{"cpu-per-task", "3500m", [](S s) { return s.cpus == 4; }},
	{"cpus-per-gpu", "4", [](S s) { return s.options.cpus_per_gpu == 4; }},
	{"current-working-dir", "/home/a b", [](S s) { return s.options.work_dir == "/home/a b"; }},
	{"deadline", "2026-12-24T18:00:00Z", [](S s) { return s.options.deadline == 1798135200; }},
	{"delay-boot", "5", [](S s) { return s.options.delay_boot_seconds == 300; }},
	{"dependency", "afterok:12:13?afterany:14",
		[](S s) { return s.options.dependency == "afterok:12:13?afterany:14"; }},
	{"excluded-nodes", "n[1-3],m", [](S s) { return s.options.excluded_nodes == "n[1-3],m"; }},
	{"exclusive", "user", [](S s) { return s.options.sharing == Sharing::same_user; }},
	{"extra", "{\"a\": 1}", [](S s) { return s.options.extra == "{\"a\": 1}"; }},
	{"end-together", "false", [](S s) { return s.options.ends_together == false; }},
	{"gang", "no", [](S s) { return s.options.gang == false; }},
	{"gres", "gpu:a100:2,shard:1", [](S s) { return s.options.gres == "gpu:a100:2,shard:1"; }},
	{"group-id", "100", [](S s) { return s.group_id == 100; }},
	{"hold", "true", [](S s) { return s.options.hold; }},
	{"job", "4711", [](S s) { return s.options.native_job == 4711; }},
	{"job-name", "fit", [](S s) { return s.name == "fit"; }},
	{"kill-on-invalid-dep", "no",
		[](S s) { return s.options.kill_on_invalid_dependency == false; }},
	{"licenses", "abaqus:2", [](S s) { return s.options.licenses == "abaqus:2"; }},
	{"mail-type", "end,Fail",
		[](S s) { return s.options.mail_types == (k_mail_end | k_mail_fail); }},
	{"mail-user", "a@b.example", [](S s) { return s.options.mail_user == "a@b.example"; }},
	{"max-nodes", "3", [](S s) { return s.options.max_nodes == 3; }},
	{"mcs-label", "team", [](S s) { return s.options.mcs_label == "team"; }},
	{"mem-per-node", "1500Mi", [](S s) { return s.memory_mib == 1500; }},
	{"min-nodes", "1", [](S s) { return s.options.min_nodes == 1; }},
	{"nice", "-5", [](S s) { return s.options.nice == -5; }},
	{"partition", "gpu", [](S s) { return s.partition == "gpu"; }},
	{"pods-per-node", "2", [](S s) { return s.options.pods_per_node == 2U; }},
	{"prefer", "fast", [](S s) { return s.options.prefer == "fast"; }},
	{"priority", "77", [](S s) { return s.priority == 77U; }},
	{"qos", "high", [](S s) { return s.qos == "high"; }},
	{"required-nodes", "n1", [](S s) { return s.options.required_nodes == "n1"; }},
	{"reservation", "day", [](S s) { return s.options.reservation == "day"; }},
	{"segment", "4", [](S s) { return s.options.segment == 4; }},
	{"spread-job", "true", [](S s) { return s.options.spread; }},
	{"switches", "2@10",
		[](S s) {
			return s.options.switches == 2U && s.options.switches_wait_seconds == 600U;
		}},
	{"thread-spec", "2", [](S s) { return s.options.thread_spec == 2; }},
	{"threads-per-core", "1", [](S s) { return s.options.threads_per_core == 1; }},
	{"time-min", "10", [](S s) { return s.options.time_min_minutes == 10U; }},
	{"timelimit", "1:30:00", [](S s) { return s.time_limit_minutes == 90; }},
	{"use-min-nodes", "true", [](S s) { return s.options.use_min_nodes; }},
	{"user-id", "1001", [](S s) { return s.user_id == 1001; }},
	{"wckey", "any", [](S s) { return s.options.wckey == "any"; }},
};

void every_option_does_what_it_says()
{
	std::set<std::string_view> tried;
	for (const Good &row : k_good) {
		const auto spec = option(row.name, row.value);
		(void)check::record(spec.ok() && row.is_set(*spec), row.name, __FILE__, __LINE__);
		tried.insert(row.name);
	}
	for (const Option &known : options())
		(void)check::record(tried.contains(known.name), std::string(known.name).c_str(),
			__FILE__, __LINE__);
}

void the_table_has_no_name_twice()
{
	std::set<std::string_view> words;
	std::set<char> letters;
	for (const Option &o : options()) {
		CHECK(words.insert(o.name).second);
		CHECK(!o.takes.empty() && o.meaning.ends_with('.'));
		CHECK(o.argument == Argument::required || !o.implied.empty());
		if (o.letter)
			CHECK(letters.insert(o.letter).second);
	}
	words.clear();
	for (const Option &o : options()) {
		if (!o.sbatch.empty())
			CHECK(words.insert(o.sbatch).second);
	}
	for (const RefusedOption &o : refused_options()) {
		CHECK(words.insert(o.sbatch).second);
		if (o.letter)
			CHECK(letters.insert(o.letter).second);
	}
}

void bad_values_are_refused_with_key_value_and_remedy()
{
	struct Row {
		const char *name, *value, *part;
	};
	for (const Row &row : {Row{"begin", "soon", "now+2hours"},
		     Row{"begin", "2095-01-01", "within 10000000 minutes"},
		     Row{"deadline", "2046-01-01", "19 years"}, Row{"begin", "2026-13-01", "YYYY"},
		     Row{"core-spec", "-1", "from 0"}, Row{"cpu-per-task", "1", "give 2"},
		     Row{"cpu-per-task", "x", "number of CPUs"},
		     Row{"mem-per-node", "1Mi", "give 1024Mi"}, Row{"mem-per-node", "4 GB", "4Gi"},
		     Row{"dependency", "expand:7", "afterok"}, Row{"dependency", "", "visible"},
		     Row{"dependency", "afterok:1 2", "visible"}, Row{"exclusive", "maybe", "mcs"},
		     Row{"hold", "perhaps", "true or false"}, Row{"mail-type", "NEVER", "BEGIN"},
		     Row{"mail-type", "", "BEGIN"}, Row{"mail-type", "END,", "BEGIN"},
		     Row{"nice", "2147483646", "2147483645"}, Row{"nice", "1e3", "whole"},
		     Row{"switches", "0", "COUNT"}, Row{"switches", "1@", "minutes"},
		     Row{"segment", "65535", "65532"}, Row{"user-id", "0", "run as 1001"},
		     Row{"user-id", "01001", "run as"}, Row{"group-id", "0", "run as 100"},
		     Row{"reservation", "secret", "night, day"},
		     Row{"current-working-dir", "home", "absolute"},
		     Row{"delay-boot", "UNLIMITED", "minutes"},
		     Row{"min-nodes", "2", "one pod runs on one node"},
		     Row{"extra", "a\nb", "printable"}, Row{"time-min", "never", "minutes"},
		     Row{"licenses", "a'b", "quotes"}}) {
		const auto spec = option(row.name, row.value);
		const bool says = refused_with(spec, row.part) && refused_with(spec, row.name) &&
			refused_with(spec, row.value);
		(void)check::record(says, row.name, __FILE__, __LINE__);
	}
}

void what_only_operators_may_needs_a_right()
{
	CHECK(refused_with(option("priority", "5", {}), "may_set_priority"));
	CHECK(refused_with(sbatch("--priority=5", {}), "may_set_priority"));
	CHECK(refused_with(with({{"sunk.coreweave.com/priority", "5"}}), "may_set_priority"));
	CHECK(refused_with(option("nice", "-1", {}), "negative"));
	CHECK(option("nice", "1", {}).ok());
	CHECK(refused_with(option("burst-buffer", "x", {}), "may_use_burst_buffer"));
	CHECK(refused_with(option("reservation", "night", {}), "allowed: none"));
	CHECK(refused_with(option("wckey", "x", {}), "allowed: none"));
	CHECK(refused_with(sbatch("--uid=0"), "run as 1001"));
	CHECK(refused_with(sbatch("-A root"), "allowed: phys, shared"));
}

void values_that_exclude_each_other_are_refused()
{
	CHECK(refused_with(
		with({{"slurm-kube.io/core-spec", "1"}, {"slurm-kube.io/thread-spec", "1"}}),
		"exclude each other"));
	CHECK(refused_with(with({{"slurm-kube.io/hold", "true"}, {"slurm-kube.io/priority", "1"}},
				   all_rights()),
		"exclude each other"));
	CHECK(refused_with(sbatch("-N 3-2"), "more than max-nodes"));
}

/* ---- aliases ---- */

void aliases_have_the_formats_of_their_owners()
{
	CHECK_EQUAL(with({{"sunk.coreweave.com/timeout", "3601"}})->time_limit_minutes, 61U);
	CHECK_EQUAL(with({{"slurmjob.slinky.slurm.net/timelimit", "60"}})->time_limit_minutes, 60U);
	CHECK_EQUAL(with({{"slinky.slurm.net/job-name", "old"}})->name, "old");
	CHECK(with({{"sunk.coreweave.com/exclusive", "none"}})->options.sharing == Sharing::nobody);
	CHECK(with({{"sunk.coreweave.com/exclusive", "ok"}})->options.sharing == Sharing::as_all);
	CHECK(with({{"sunk.coreweave.com/exclusive", "topo"}})->options.sharing ==
		Sharing::same_topology);
	CHECK(with({{"slurmjob.slinky.slurm.net/exclusive", "false"}})->options.sharing ==
		Sharing::as_all);
	CHECK_EQUAL(with({{"slurmjob.slinky.slurm.net/mem-per-node", "2Gi"}})->memory_mib, 2048U);
	CHECK(refused_with(with({{"sunk.coreweave.com/timeout", "1:00"}}), "seconds"));
	CHECK(refused_with(with({{"sunk.coreweave.com/timeout", "999999999"}}), "longer"));
	CHECK(refused_with(with({{"sunk.coreweave.com/timelimit", "5"}}), "like it: timelimit"));
	CHECK(refused_with(
		with({{"slurmjob.slinky.slurm.net/licences", "x"}}), "like it: licenses"));
}

void ours_wins_and_aliases_must_agree()
{
	const Annotations both = {{"sunk.coreweave.com/timeout", "600"},
		{"slurmjob.slinky.slurm.net/timelimit", "20"}};
	CHECK(refused_with(with(both), "asks for something else"));
	Annotations three = both;
	three["slurm-kube.io/timelimit"] = "30";
	CHECK_EQUAL(with(three)->time_limit_minutes, 30U);
	CHECK_EQUAL(with({{"sunk.coreweave.com/timeout", "600"},
				 {"slurmjob.slinky.slurm.net/timelimit", "10"}})
			    ->time_limit_minutes,
		10U);
	CHECK_EQUAL(with({{"sunk.coreweave.com/timeout", "600"}, {"slurm-kube.io/sbatch", "-t 20"}})
			    ->time_limit_minutes,
		20U);
	CHECK_EQUAL(with({{"slurm-kube.io/timelimit", "30"}, {"slurm-kube.io/sbatch", "-t 20"}})
			    ->time_limit_minutes,
		30U);
}

void what_rivals_write_themselves_is_no_option()
{
	CHECK(with({{"slinky.slurm.net/slurm-node", "n1"}, {"sunk.coreweave.com/lock", "true"}})
			.ok());
	CHECK(refused_with(with({{"slurm-kube.io/lock", "true"}}), "unknown option"));
	CHECK(is_option_key("sunk.coreweave.com/x") && is_option_key("slinky.slurm.net/x") &&
		is_option_key("slurm-kube.io/x"));
	CHECK(!is_option_key("allocation.slurm-kube.io/x") &&
		!is_option_key("kubectl.kubernetes.io/x"));
}

void unknown_names_get_suggestions()
{
	CHECK(suggestions("time-limit").find("timelimit") != std::string::npos);
	CHECK(suggestions("nodelist").find("required-nodes") != std::string::npos);
	CHECK(suggestions("no-such-thing-at-all-anywhere").starts_with("known: account, begin"));
	CHECK(suggestions(std::string(300, 'a')).starts_with("known: "));
}

/* ---- the sbatch string ---- */

void sbatch_words_are_split_as_by_a_shell()
{
	const auto spec =
		sbatch("--comment='two  words' -J \"a \\\"b\\\" c\" --dependency afterok:12\t-L "
		       "abaqus:2,x\n -Ht10 --licenses=last --exclusive=user");
	REQUIRE(spec.ok());
	CHECK_EQUAL(spec->comment, "two  words");
	CHECK_EQUAL(spec->name, "a \"b\" c");
	CHECK_EQUAL(spec->options.dependency, "afterok:12");
	CHECK_EQUAL(spec->options.licenses, "last");
	CHECK(spec->options.hold && spec->time_limit_minutes == 10);
	CHECK(spec->options.sharing == Sharing::same_user);
	CHECK_EQUAL(sbatch("--comment=a\\ b'c'\"d\"")->comment, "a bcd");
	CHECK_EQUAL(sbatch("--comment='$HOME `x` \\n'")->comment, "$HOME `x` \\n");
	CHECK_EQUAL(sbatch("--comment=\"a\\nb\\$\"")->comment, "a\\nb$");
	CHECK(sbatch("").ok() && sbatch("  ").ok());
}

void sbatch_options_take_values_as_sbatch_does()
{
	CHECK(sbatch("--exclusive")->options.sharing == Sharing::nobody);
	CHECK(sbatch("--nice")->options.nice == 100);
	CHECK(sbatch("--nice=7")->options.nice == 7);
	CHECK_EQUAL(sbatch("--mem=2G")->memory_mib, 2048U);
	CHECK_EQUAL(sbatch("--mem 3000")->memory_mib, 3000U);
	CHECK_EQUAL(sbatch("--mem=1048577K")->memory_mib, 1025U);
	CHECK(sbatch("-N1-4")->options.max_nodes == 4U);
	CHECK(sbatch("--kill-on-invalid-dep=yes")->options.kill_on_invalid_dependency == true);
	CHECK_EQUAL(sbatch("-D /scratch")->options.work_dir, "/scratch");
}

void sbatch_refusals_say_why()
{
	struct Row {
		const char *text, *part;
	};
	for (const Row &row : {Row{"--array=1-3", "Indexed"}, Row{"-a 1-3", "Indexed"},
		     Row{"--signal=USR1@60", "terminationGracePeriodSeconds"},
		     Row{"--signal=USR1@60", "reduce timelimit"}, Row{"--output=x", "kubectl logs"},
		     Row{"job.sh", "not an option"}, Row{"-", "not an option"},
		     Row{"--", "no option"}, Row{"--nope", "no option of sbatch"},
		     Row{"--tim=3", "timelimit"}, Row{"-Z", "no option of sbatch"},
		     Row{"--time", "needs a value"}, Row{"-t", "needs a value"},
		     Row{"--hold=yes", "takes no value"}, Row{"--comment='x", "not closed"},
		     Row{"--comment=\"x", "not closed"}, Row{"--comment=x\\", "backslash"},
		     Row{"--time=soon", "--time 'soon'"}, Row{"--mem=1", "give 1024Mi"},
		     Row{"--mem=4X", "MiB"}, Row{"--mem=99999999999999T", "MiB"},
		     Row{"-N x", "MIN-MAX"}, Row{"-HZ", "no option of sbatch"}}) {
		const auto spec = sbatch(row.text);
		(void)check::record(
			refused_with(spec, row.part) && refused_with(spec, "slurm-kube.io/sbatch"),
			row.text, __FILE__, __LINE__);
	}
	CHECK(refused_with(sbatch(std::string(20000, 'x').c_str()), "longer"));
	CHECK(refused_with(option("signal", "B:USR1@60"),
		"annotation slurm-kube.io/signal='B:USR1@60': no option of pods: Slurm signals job "
		"steps"));
}

/* ---- PriorityClass ---- */

Result<JobSpec> of_class(const char *name, Annotations annotations = {})
{
	Policy p = policy();
	p.priority_classes = {{.name = "urgent", .qos = "high", .nice = -10},
		{.name = "root", .qos = "admin", .nice = 0},
		{.name = "later", .qos = "", .nice = 50}};
	Pod pod = make_pod("a", "p", "u");
	pod.priority_class = name;
	pod.annotations = std::move(annotations);
	return translate(pod, p, 1);
}

void a_priority_class_is_a_qos_or_nice()
{
	CHECK_EQUAL(of_class("urgent")->qos, "high");
	CHECK(of_class("urgent")->options.nice == -10);
	CHECK(of_class("later")->options.nice == 50 && of_class("later")->qos == "normal");
	CHECK_EQUAL(of_class("urgent", {{"slurm-kube.io/qos", "normal"}})->qos, "normal");
	CHECK(of_class("later", {{"slurm-kube.io/nice", "7"}})->options.nice == 7);
	CHECK(!of_class("other")->options.nice && of_class("other")->qos == "normal");
	CHECK(refused_with(of_class("root"), "priorityClassName 'root' means QOS 'admin'"));
}

/* ---- changes ---- */

std::string mark_of(const Annotations &annotations)
{
	return with(annotations, all_rights())->marker.options;
}

Result<OptionChange> change_from(const Annotations &before, const Annotations &after)
{
	return option_change(mark_of(before), mark_of(after));
}

using Names = std::vector<std::string>;

void a_change_names_what_is_given_and_what_is_taken_back()
{
	const auto change = change_from(
		{{"slurm-kube.io/timelimit", "10"}, {"slurm-kube.io/licenses", "a"}},
		{{"slurm-kube.io/sbatch", "-t 20 --hold"}, {"sunk.coreweave.com/comment", "x"}});
	REQUIRE(change.ok());
	CHECK(change->given == Names({"comment", "hold", "timelimit"}));
	CHECK(change->removed == Names({"licenses"}));
	CHECK(change_from({{"slurm-kube.io/hold", "true"}}, {{"slurm-kube.io/hold", "false"}})
			->removed == Names({"hold"}));
	CHECK(change_from({}, {{"slurm-kube.io/qos", "high"}})->removed.empty());
}

void what_is_fixed_cannot_be_changed()
{
	for (const Option &o : options()) {
		const auto *good = std::find_if(std::begin(k_good), std::end(k_good),
			[&](const Good &g) { return g.name == o.name; });
		const auto change =
			change_from({}, {{"slurm-kube.io/" + std::string(o.name), good->value}});
		const bool sets_nothing_new =
			o.name == "min-nodes" || o.name == "user-id" || o.name == "group-id";
		(void)check::record(sets_nothing_new || change.ok() != o.fixed,
			std::string(o.name).c_str(), __FILE__, __LINE__);
	}
	CHECK(!change_from({{"slurm-kube.io/gres", "gpu:1"}}, {}).ok());
	CHECK(change_from({{"slurm-kube.io/gres", "gpu:1"}},
		{{"slurm-kube.io/gres", "gpu:1"}, {"slurm-kube.io/nice", "1"}})
			.ok());
}

/* Jobs keep the mark of the agent that submitted them. If a newer agent made another one of the
 * same options, it would refuse every change of a waiting pod. A new fixed option counts only if it
 * is given. */
void marks_stay_the_same_over_upgrades()
{
	CHECK_EQUAL(
		options_mark(Pod(), JobSpec(), JobSpec()), "cbf29ce484222325 6b4af8ec2f5cd0b9 ");
	JobSpec spec;
	spec.options.gres = "gpu:1";
	spec.options.threads_per_core = 1;
	spec.options.spread = true;
	CHECK_EQUAL(options_mark(Pod(), JobSpec(), spec), "cbf29ce484222325 70eef70ad6d8a1e9 ");
}

void the_hash_is_that_of_the_options()
{
	Pod pod;
	pod.annotations = {{"slurm-kube.io/nice", "1"}};
	const std::string hash = options_hash(pod);
	CHECK(has_hash(mark_of(pod.annotations), hash));
	pod.annotations["allocation.slurm-kube.io/job-id"] = "7";
	CHECK_EQUAL(options_hash(pod), hash);
	pod.annotations["slurm-kube.io/nice"] = "2";
	CHECK(options_hash(pod) != hash && !has_hash(mark_of(pod.annotations), hash));
	CHECK(!has_hash("", hash));
}

/* ---- times ---- */

/* An offset of two hours until 2026-10-25T01:00:00Z, then one hour. */
std::int64_t berlin(std::int64_t utc)
{
	return utc < 1'792'890'000 ? 7200 : 3600;
}

void times_are_read_as_sbatch_reads_them()
{
	struct Row {
		const char *text;
		std::int64_t seconds; /* 0: refused */
	};
	for (const Row &row : {Row{"now", k_created}, Row{"now+90", k_created + 90},
		     Row{"now+1hour", k_created + 3600}, Row{"now+2m", k_created + 120},
		     Row{"now+1weeks", k_created + 604800}, Row{"today", k_created},
		     Row{"16:00", 1790085600}, Row{"17:00", 1790002800}, Row{"teatime", 1790085600},
		     Row{"tomorrow", 1790028000}, Row{"midnight", 1790028000},
		     Row{"2026-09-22", 1790028000}, Row{"2026-09-22T01:02:03", 1790028000 + 3723},
		     Row{"2026-09-22T00:00Z", 1790035200},
		     Row{"2026-09-22T00:00:00+05:30", 1790035200 - 19800},
		     Row{"2026-09-22T00:00-01:00", 1790035200 + 3600},
		     Row{"2026-10-26", 1792969200}, Row{"", 0}, Row{"now+", 0}, Row{"now-1", 0},
		     Row{"now+1fortnight", 0}, Row{"now+9999999999999", 0}, Row{"24:00", 0},
		     Row{"2026-02-30", 0}, Row{"2026-9-22", 0}, Row{"2026-09-22T", 0},
		     Row{"2026-09-22T1:00Zx", 0}, Row{"2026-09-22+01:00x", 0}, Row{"0000-00-00", 0},
		     Row{"1969-12-31Z", 0}, Row{"12", 0}}) {
		const auto when = parse_when(row.text, k_created, berlin);
		const bool as_wanted =
			row.seconds == 0 ? !when.ok() : when.ok() && *when == row.seconds;
		(void)check::record(as_wanted, row.text, __FILE__, __LINE__);
		if (!as_wanted && when.ok())
			CHECK_EQUAL(*when, row.seconds);
	}
	CHECK_EQUAL(*parse_when("2026-09-22", k_created, nullptr), 1790035200);
}

void what_slurm_does_not_grant_has_a_remedy()
{
	JobSpec spec = *with({});
	spec.user = "phys";
	spec.as_whom = "user phys (uid 1001) by identity rule 1 (namespace a)";
	CHECK_EQUAL(not_granted(NotGranted::account, spec),
		"user phys (uid 1001) by identity rule 1 (namespace a), account phys, QOS normal, "
		"partition kube; an administrator can grant it "
		"(sacctmgr add user phys account=phys) or change the rule");
	JobSpec asked = *with({{"slurm-kube.io/account", "shared"},
		{"sunk.coreweave.com/partition", "gpu"}, {"slurm-kube.io/qos", "high"}});
	asked.user = "1001"; /* sacctmgr takes no number */
	asked.as_whom = "user uid 1001 by identity rule 1";
	CHECK_EQUAL(not_granted(NotGranted::account, asked),
		"user uid 1001 by identity rule 1, account shared (option account), QOS high "
		"(option qos), partition gpu; an administrator can grant it "
		"(sacctmgr add user USER account=shared) or change the rule, the pod can ask for "
		"another with slurm-kube.io/account");
	CHECK_EQUAL(not_granted(NotGranted::qos, asked),
		"user uid 1001 by identity rule 1, account shared (option account), QOS high "
		"(option qos), partition gpu; an administrator can grant it "
		"(sacctmgr modify user USER set qos+=high) or change the rule, the pod can ask for "
		"another with slurm-kube.io/qos");
	spec.account = spec.qos = "";
	CHECK_EQUAL(not_granted(NotGranted::user, spec),
		"user phys (uid 1001) by identity rule 1 (namespace a), account (Slurm's default), "
		"QOS (Slurm's default), partition kube; an administrator can "
		"grant it (make the user known where slurmctld runs) or change the rule");
}

void what_was_granted_may_be_taken_away()
{
	SlurmJob job;
	job.id = {7};
	for (const auto &[reason, text] :
		{std::pair("InvalidAccount",
			 "Slurm job 7 is pending: InvalidAccount (Slurm's database no longer gives "
			 "the user this account; the job starts when an administrator has added it "
			 "again)"),
			std::pair("InvalidQOS",
				"Slurm job 7 is pending: InvalidQOS (Slurm's database no longer "
				"gives the user this QOS; the job starts when an administrator has "
				"added it again)"),
			std::pair("Resources", "Slurm job 7 is pending: Resources")}) {
		job.reason = reason;
		CHECK_EQUAL(waiting_in_queue(job).message, text);
	}
}

} // namespace

int main()
{
	return check::run_tests("options",
		{
			TEST(every_option_does_what_it_says),
			TEST(the_table_has_no_name_twice),
			TEST(bad_values_are_refused_with_key_value_and_remedy),
			TEST(what_only_operators_may_needs_a_right),
			TEST(values_that_exclude_each_other_are_refused),
			TEST(aliases_have_the_formats_of_their_owners),
			TEST(ours_wins_and_aliases_must_agree),
			TEST(what_rivals_write_themselves_is_no_option),
			TEST(unknown_names_get_suggestions),
			TEST(sbatch_words_are_split_as_by_a_shell),
			TEST(sbatch_options_take_values_as_sbatch_does),
			TEST(sbatch_refusals_say_why),
			TEST(a_priority_class_is_a_qos_or_nice),
			TEST(a_change_names_what_is_given_and_what_is_taken_back),
			TEST(what_is_fixed_cannot_be_changed),
			TEST(marks_stay_the_same_over_upgrades),
			TEST(the_hash_is_that_of_the_options),
			TEST(times_are_read_as_sbatch_reads_them),
			TEST(what_slurm_does_not_grant_has_a_remedy),
			TEST(what_was_granted_may_be_taken_away),
		});
}
