/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/crio.h"
#include "src/node/crio_hook.h"
#include "src/node/oci_hook.h"
#include "src/node/records.h"
#include "testsuite/unit/check.h"
#include "testsuite/unit/native_machine.h"

#include <cstring>

using namespace slurmkube;
using namespace slurmkube::node;

namespace
{

/* As CRI-O 1.36.1 prints it, shortened. */
constexpr std::string_view k_crio_config = R"([crio]
  root = "/var/lib/containers/storage"
  [crio.runtime]
    enable_criu_support = false
    infra_ctr_cpuset = "0"
    hooks_dir = ["/none", "/hooks"]
    [crio.runtime.runtimes]
      [crio.runtime.runtimes.runc]
        runtime_path = "/usr/bin/runc"
        privileged_without_host_devices = false
  [crio.nri]
    enable_nri = true
    nri_disable_connections = false
    [crio.nri.default_validator]
      nri_enable_default_validator = true
      nri_validator_reject_oci_hook_adjustment = false
      nri_validator_required_plugins = ["slurm-kube"]
      nri_validator_tolerate_missing_plugins_annotation = ""
)";

constexpr const char *k_good_hook = R"({"version": "1.0.0",
	"hook": {"path": "/usr/sbin/slurmkube-node", "args": ["slurmkube-node", "--confined"]},
	"when": {"always": true}, "stages": ["createRuntime"]})";

std::vector<std::string> crio_lacks_with(const std::string &text, const std::string &other,
	const std::string &hook = k_good_hook, const std::string &folder = "/hooks")
{
	std::string changed(k_crio_config);
	const std::size_t at = changed.find(text);
	CHECK(at != std::string::npos);
	changed.replace(at, text.size(), other);
	return crio_lacks(changed, [&](const std::string &file) {
		if (file == "/usr/sbin/slurmkube-node")
			return std::string("a program");
		return file == folder + "/50-slurm-kube.json" ? hook : std::string();
	});
}

void a_crio_that_keeps_all()
{
	CHECK(crio_lacks_with("\n", "\n").empty());
	CHECK(crio_lacks_with("enable_nri = true", "").empty()); /* the default */
}

void a_crio_that_fails_open_is_named()
{
	const struct {
		const char *text, *other, *want;
	} rows[] = {
		{"nri_enable_default_validator = true", "", "containers would start while"},
		{"\"slurm-kube\"", "\"other\"", "containers would start while"},
		{"annotation = \"\"", "annotation = \"x/tolerate\"",
			"any user can start containers without slurmkube-node by the annotation "
			"x/tolerate"},
		{"enable_nri = true", "enable_nri = false", "NRI is off"},
		{"nri_disable_connections = false", "nri_disable_connections = true", "NRI is off"},
		{"\"/hooks\"", "\"/elsewhere\"",
			"a container could start on processors of jobs if slurmkube-node dies: "
			"write the output of skube node-setup --only crio-hook to "
			"/none/50-slurm-kube.json"},
		{"enable_criu_support = false", "enable_criu_support = true",
			"a container that is restored from a checkpoint starts without"},
		{"/usr/bin/runc", "/usr/bin/nvidia-container-runtime",
			"runtime runc runs /usr/bin/nvidia-container-runtime, which gives"},
		{"host_devices = false", "host_devices = true",
			"runtime runc has privileged_without_host_devices, so slurmkube-node sees"},
	};
	for (const auto &row : rows) {
		const std::vector<std::string> lacks = crio_lacks_with(row.text, row.other);
		REQUIRE(lacks.size() == 1);
		CHECK(lacks[0].starts_with(row.want));
	}
}

void a_hook_that_is_not_ours_or_not_for_all()
{
	for (const char *hook : {"", "{", "{}"})
		CHECK_EQUAL(crio_lacks_with("\n", "\n", hook).size(), 1U);
	const struct {
		const char *text, *other;
	} rows[] = {{"/usr/sbin/slurmkube-node", "/bin/true"},
		{"/usr/sbin/slurmkube-node", "/usr/local/sbin/slurmkube-node"}, /* not there */
		{", \"--confined\"", ""}, {"--confined\"", "--confined\", \"--check\""},
		{"true", "false"}, {"createRuntime", "poststop"}};
	for (const auto &row : rows) {
		std::string hook = k_good_hook;
		hook.replace(hook.find(row.text), std::strlen(row.text), row.other);
		CHECK_EQUAL(crio_lacks_with("\n", "\n", hook).size(), 1U);
	}
}

/* Each container of podman would be refused, also those within native jobs. */
void a_hook_where_podman_reads_it()
{
	const struct {
		const char *folders, *folder, *want;
	} rows[] = {
		{"", "/usr/share/containers/oci/hooks.d",
			"move the hook to /etc/crio/hooks.d/50-slurm-kube.json, and name"},
		{"hooks_dir = [\"/etc/containers/oci/hooks.d\", \"/own\"]",
			"/etc/containers/oci/hooks.d", "move the hook to /own/50-slurm-kube.json"},
	};
	for (const auto &row : rows) {
		const std::vector<std::string> lacks =
			crio_lacks_with("hooks_dir = [\"/none\", \"/hooks\"]", row.folders,
				k_good_hook, row.folder);
		REQUIRE(lacks.size() == 1);
		CHECK(lacks[0].find(row.want) != std::string::npos);
	}
}

/* CRI-O takes the last of the files that have the same name. */
void a_hook_that_another_file_replaces()
{
	const auto read = [](const std::string &file) -> std::string {
		if (file == "/none/50-slurm-kube.json")
			return k_good_hook;
		return file == "/hooks/50-slurm-kube.json" ? "{}" : "a program";
	};
	CHECK_EQUAL(crio_lacks(k_crio_config, read).size(), 1U);
}

/* As an OCI runtime gives it to hooks. */
constexpr std::string_view k_state =
	R"({"ociVersion": "1.0.2", "id": "c1", "status": "creating", "pid": 7, "bundle": "/b"})";

Result<CreatedContainer> created_with(const std::string &config, std::string_view state = k_state)
{
	return created_container(state, [&](const std::string &file) {
		return file == "/b/config.json" ? config : std::string();
	});
}

void a_container_with_processors_may_run()
{
	const auto got = created_with(R"({"linux": {"resources": {"cpu": {"cpus": "2-3"}}}})");
	REQUIRE(got.ok());
	CHECK_EQUAL(got->id, "c1");
	CHECK_EQUAL(got->cpus, "2-3");
}

/* CRI-O or the runtime would add to the list later. */
void a_container_that_may_get_more_processors()
{
	const std::string resources = R"("linux": {"resources": {"cpu": {"cpus": "2-3"}, )";
	CHECK(created_with("{" + resources + R"("unified": {"memory.high": "1"}}}})").ok());
	CHECK(!created_with("{" + resources + R"("unified": {"cpuset.cpus": "0-7"}}}})").ok());
	const std::string rest = resources + R"("unified": {}}}})";
	CHECK(created_with(R"({"process": {"env": ["A=OPENSHIFT_SHARED_CPUS=1"]}, )" + rest).ok());
	CHECK(!created_with(R"({"process": {"env": ["A=1", "OPENSHIFT_SHARED_CPUS=0-7"]}, )" + rest)
			.ok());
}

/* CRI-O or the kubelet may have given others, and the job may have ended since. */
void only_the_processors_of_slurmkube_node()
{
	const JobFacts job{false, CpuSet{"2-3", "0"}}, closed{true, CpuSet{"2-3", "0"}}, gone;
	CHECK(check_processors("3,2", job, "0-1").ok());
	CHECK(check_processors("0", std::nullopt, "0-1").ok());
	CHECK(!check_processors("2", job, "0-1").ok());
	CHECK(!check_processors("0-63", job, "0-1").ok());
	CHECK(!check_processors("0-63", std::nullopt, "0-1").ok());
	CHECK(!check_processors("2-3", std::nullopt, "0-1").ok());
	CHECK(!check_processors("2-3", closed, "0-1").ok());
	CHECK(!check_processors("2-3", gone, "0-1").ok());
}

/* The records are those of the daemon, for pods with a job and within one. */
void the_hook_finds_the_job_of_the_container()
{
	const check::NativeMachine machine;
	Settings settings;
	settings.state_directory = machine.state();
	settings.system_cpus = "0";
	const std::string bundle = machine.state().parent_path() / "bundle";
	machine.write("bundle/config.json", R"({"linux": {"resources": {"cpu": {"cpus": "1"}}}})");
	const auto may = [&] {
		return may_run(
			R"({"id": "c1", "bundle": ")" + bundle + "\"}", settings, machine.cgroups())
			.ok();
	};
	CHECK(!may()); /* no record */
	const Records records = *Records::open(machine.state());
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", false).ok());
	CHECK(may());
	CHECK(!records.containers_of(7).at(0).is_started); /* no process is seen */
	machine.write("cg/cpuset/kubepods/podu1/c1/cgroup.procs", "1\n");
	CHECK(may());
	CHECK(records.containers_of(7).at(0).is_started); /* an epilog waits no minute for it */
	REQUIRE(records.keep_container(7, "c1", "/kubepods/podu1/c1", false).ok());
	REQUIRE(records.close(7, false).ok());
	CHECK(!may());
	CHECK(records.containers_of(7).at(0).is_started);
	records.forget_container("c1");
	CHECK(!may());
	CHECK(records.containers_of(7).empty());
	const NativeJobs jobs = machine.jobs();
	REQUIRE(jobs.open(check::life_of_job()).ok());
	const Records native = *Records::open(jobs.directory());
	REQUIRE(native.keep_container(7, "c1", "/kubepods/podu1/c1", false).ok());
	CHECK(may());
	CHECK(native.containers_of(7).at(0).is_started);
	machine.remove("cg/cpuset/" + check::NativeMachine::job());
	CHECK(!may());
}

void a_container_without_an_answer_may_not()
{
	for (const char *config : {R"({"linux": {"resources": {"cpu": {"cpus": ""}}}})",
		     R"({"linux": {"resources": {"cpu": {"shares": 2}}}})",
		     R"({"linux": {"resources": {}}})", "{}",
		     R"({"process": {"env": ["\"linux\": {\"resources\": {\"cpu\""]}})"}) {
		const auto got = created_with(config);
		REQUIRE(!got.ok());
		CHECK(got.error().code == Errc::denied);
	}
	CHECK(!created_with("").ok());
	CHECK(!created_with("{").ok());
	for (const char *state : {"", "{}", "[]", R"({"bundle": ""})", R"({"bundle": "/b"})"})
		CHECK(!created_with("{}", state).ok());
}

} // namespace

int main()
{
	return check::run_tests("node_crio",
		{TEST(a_crio_that_keeps_all), TEST(a_crio_that_fails_open_is_named),
			TEST(a_hook_that_is_not_ours_or_not_for_all),
			TEST(a_hook_where_podman_reads_it), TEST(a_hook_that_another_file_replaces),
			TEST(a_container_with_processors_may_run),
			TEST(a_container_that_may_get_more_processors),
			TEST(only_the_processors_of_slurmkube_node),
			TEST(the_hook_finds_the_job_of_the_container),
			TEST(a_container_without_an_answer_may_not)});
}
