/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_options.cc - options that users write on pods, and names that end up in lines for
 * slurm.conf.
 *
 * The first byte selects an option or a node. An option is a key (used unchanged if it contains a
 * slash) and a value; a node is a name, an address, features and GRES. Each field is a line.
 */
#include "src/core/reconcile/node_sync.h"
#include "src/core/translate/translate.h"
#include "testsuite/fuzz/fuzz.h"

using namespace slurmkube;
using namespace slurmkube::fuzz;

namespace
{

void check_annotation(Input input)
{
	core::Pod pod;
	pod.name_space = "a";
	pod.name = "p";
	pod.uid.text = "u";
	const std::string line = input.line();
	const std::string key =
		line.find('/') == std::string::npos ? "slurm-kube.io/" + line : line;
	pod.annotations[key] = input.rest();
	const core::Policy policy{.scheduler_names = {"slurm"},
		.namespaces = {{"a", 1000, 1000, {"acct", "other"}, {"kube", "gpu"}, {"normal"}}}};
	const auto spec = core::translate(pod, policy, 1);
	MUST(says_why(spec));
	if (!spec) {
		const bool is_about_several =
			spec.error().what.find("exclude each other") != std::string::npos ||
			spec.error().what.find("-nodes") != std::string::npos;
		MUST(is_about_several || spec.error().what.find(key) != std::string::npos);
		return;
	}
	MUST(spec->user_id == 1000 && spec->group_id == 1000 && spec->required_node.empty());
	MUST(spec->account == "acct" || spec->account == "other");
	MUST(spec->partition == "kube" || spec->partition == "gpu");
	MUST(spec->qos == "normal");
	MUST(is_printable(spec->name) && spec->name.size() <= 256 && is_printable(spec->comment) &&
		spec->comment.size() <= 256);
	const core::JobOptions &o = spec->options;
	/* the pod's user has no permissions */
	MUST(!spec->priority && o.nice.value_or(0) >= 0 && o.burst_buffer.empty() &&
		o.reservation.empty() && o.wckey.empty());
	MUST(spec->cpus >= 1 && spec->memory_mib >= 1 && o.min_nodes.value_or(1) == 1);
	for (const std::string *text : {&o.constraints, &o.prefer, &o.required_nodes,
		     &o.excluded_nodes, &o.gres, &o.licenses, &o.dependency, &o.mcs_label, &o.extra,
		     &o.mail_user, &o.work_dir})
		MUST(is_printable(*text) && text->size() <= 1024);
}

/* The line is NodeName=... NodeAddr=... Port=... CPUs=... RealMemory=... Feature=... Gres=...
 * State=... and must have exactly the given number of words. */
void check_line(const std::string &line, std::size_t words)
{
	MUST(is_printable(line));
	MUST(static_cast<std::size_t>(std::count(line.begin(), line.end(), ' ')) + 1 == words);
	MUST(line.find_first_of("#\"'\\[]") == std::string::npos);
	MUST(line.starts_with("NodeName="));
}

void check_node(Input input)
{
	core::NodeSpec spec;
	spec.name = input.line();
	spec.address = input.line();
	spec.features = input.line();
	spec.gres = input.rest();
	const std::size_t words =
		5U + (spec.features.empty() ? 0U : 1U) + (spec.gres.empty() ? 0U : 1U);
	const auto line = core::node_line(spec, "CLOUD");
	MUST(says_why(line));
	if (line)
		check_line(*line, words);
}

} // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size)
{
	Input input(data, size);
	if (input.byte() % 2 == 0)
		check_annotation(input);
	else
		check_node(input);
	return 0;
}
