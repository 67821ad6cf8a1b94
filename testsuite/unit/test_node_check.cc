/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/node/containerd.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::node;

namespace
{

/* As containerd 2.4.2 prints it. */
constexpr std::string_view k_good = R"(version = 4
disabled_plugins = []

[plugins]
  [plugins.'io.containerd.cri.v1.runtime']
    cdi_spec_dirs = ['/etc/cdi', '/var/run/cdi']

    [plugins.'io.containerd.cri.v1.runtime'.containerd]
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes]
        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.kata]
          base_runtime_spec = '/kata.json'
        [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
          base_runtime_spec = '/runc.json'

          [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
            SystemdCgroup = false

  [plugins.'io.containerd.nri.v1.nri']
    disable = false
    disable_connections = false

    [plugins.'io.containerd.nri.v1.nri'.default_validator]
      enable = true
      reject_namespace_adjustment = false
      required_plugins = ['other', 'slurm-kube']
      tolerate_missing_plugins_annotation = ''

  [plugins.'io.containerd.other']
    enable = false
)";

/* Of files whose names are their processors, but for the two above. */
std::string spec_in(const std::string &file)
{
	if (file == "/none.json")
		return {};
	if (file == "/elsewhere.json")
		return R"({"cpus": "0", "linux": {"resources": {"cpu": {"cpus":"0-63"}}}})";
	return R"({ "linux": {"resources": {"cpu": {"shares": 1, "cpus": "0,1"}}}})";
}

/* The configuration with a text in place of another. */
std::vector<std::string> lacks_with(
	const std::string &text, const std::string &other, const std::string &system_cpus = "0-1")
{
	std::string changed(k_good);
	const std::size_t at = changed.find(text);
	CHECK(at != std::string::npos);
	changed.replace(at, text.size(), other);
	return containerd_lacks(changed, spec_in, system_cpus);
}

void a_containerd_that_keeps_all()
{
	CHECK(containerd_lacks(k_good, spec_in, "0-1").empty());
	CHECK(lacks_with("base_runtime_spec = '/kata.json'",
		"base_runtime_spec = '/kata.json'\nprivileged_without_host_devices = false")
			.empty());
	/* a part of the system's processors is fine */
	CHECK(containerd_lacks(k_good, spec_in, "0-3").empty());
	CHECK(lacks_with("SystemdCgroup = false", "BinaryName = '/nvidia-container-runtime/runc'")
			.empty());
	/* by hand, over several lines */
	CHECK(lacks_with("['other', 'slurm-kube']", "[ # ]\n  \"other\",\n  \"slurm-kube\"\n]")
			.empty());
	CHECK(lacks_with("[plugins.'io.containerd.nri.v1.nri'.default_validator]",
		"[ plugins . \"io.containerd.nri.v1.nri\".default_validator ] # ours")
			.empty());
}

void a_containerd_that_fails_open_is_named()
{
	const struct {
		const char *text, *other, *want;
	} rows[] = {
		{"enable = true", "enable = false", "containers would start while"},
		{"enable = true\n", "\n", "containers would start while"},
		{", 'slurm-kube'", "", "containers would start while"},
		{"'slurm-kube'", "'slurm-kube-2'", "containers would start while"},
		{"required_plugins", "# required_plugins", "containers would start while"},
		{"annotation = ''", "annotation = 'x/tolerate'",
			"any user can start containers without slurmkube-node by the annotation "
			"x/tolerate"},
		{"disable = false", "disable = true", "NRI is off"},
		{"disable_connections = false", "disable_connections = true", "NRI is off"},
		{"disabled_plugins = []", "disabled_plugins = ['io.containerd.nri.v1.nri']",
			"NRI is off"},
		{"'/kata.json'", "''", "a container of runtime kata could start"},
		{"'/runc.json'", "''", "a container of runtime runc could start"},
		{"base_runtime_spec = '/kata.json'", "x = 1",
			"a container of runtime kata could start"},
		{"/kata.json", "/none.json", "a container of runtime kata could start"},
		{"/kata.json", "/elsewhere.json", "a container of runtime kata could start"},
		{"SystemdCgroup = false", "BinaryName = '/usr/bin/nvidia-container-runtime'",
			"runtime runc runs /usr/bin/nvidia-container-runtime, which gives"},
		{"SystemdCgroup = false", "BinaryName = \"nvidia-container-runtime.cdi\"",
			"runtime runc runs nvidia-container-runtime.cdi, which gives"},
		{"base_runtime_spec = '/kata.json'",
			"base_runtime_spec = '/kata.json'\n"
			"privileged_without_host_devices = true",
			"runtime kata has privileged_without_host_devices, so slurmkube-node sees"},
		{"base_runtime_spec = '/kata.json'",
			"base_runtime_spec = '/kata.json'\n"
			"privileged_without_host_devices_all_devices_allowed = true",
			"runtime kata has privileged_without_host_devices_all_devices_allowed, so"},
	};
	for (const auto &row : rows) {
		const std::vector<std::string> lacks = lacks_with(row.text, row.other);
		REQUIRE(lacks.size() == 1);
		CHECK(lacks[0].starts_with(row.want));
	}
	CHECK(containerd_lacks("", spec_in, "0-1")[1].find("only if imports") != std::string::npos);
	CHECK(containerd_lacks(k_good, spec_in, "0").size() == 2);
	CHECK(containerd_lacks("", spec_in, "0-1").size() == 3);
	CHECK(containerd_lacks("[\n=\n[a\nb = [\n'", spec_in, "0-1").size() == 3);
}

} // namespace

int main()
{
	return check::run_tests("node_check",
		{TEST(a_containerd_that_keeps_all), TEST(a_containerd_that_fails_open_is_named)});
}
