/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/crio.h"
#include "src/node/oci_hook.h"
#include "testsuite/unit/check.h"

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
		{", \"--confined\"", ""}, {"true", "false"}, {"createRuntime", "poststop"}};
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

Result<Ok> confined_by(const std::string &config, std::string_view state = k_state)
{
	return check_confined(state, [&](const std::string &file) {
		return file == "/b/config.json" ? config : std::string();
	});
}

void a_container_with_processors_may_run()
{
	CHECK(confined_by(R"({"linux": {"resources": {"cpu": {"cpus": "2-3"}}}})").ok());
}

void a_container_without_an_answer_may_not()
{
	for (const char *config : {R"({"linux": {"resources": {"cpu": {"cpus": ""}}}})",
		     R"({"linux": {"resources": {"cpu": {"shares": 2}}}})",
		     R"({"linux": {"resources": {}}})", "{}",
		     R"({"process": {"env": ["\"linux\": {\"resources\": {\"cpu\""]}})"}) {
		const Result<Ok> got = confined_by(config);
		REQUIRE(!got.ok());
		CHECK(got.error().code == Errc::denied);
	}
	CHECK(!confined_by("").ok());
	CHECK(!confined_by("{").ok());
	for (const char *state : {"", "{}", "[]", R"({"bundle": ""})"})
		CHECK(!confined_by("{}", state).ok());
}

} // namespace

int main()
{
	return check::run_tests("node_crio",
		{TEST(a_crio_that_keeps_all), TEST(a_crio_that_fails_open_is_named),
			TEST(a_hook_that_is_not_ours_or_not_for_all),
			TEST(a_hook_where_podman_reads_it), TEST(a_hook_that_another_file_replaces),
			TEST(a_container_with_processors_may_run),
			TEST(a_container_without_an_answer_may_not)});
}
