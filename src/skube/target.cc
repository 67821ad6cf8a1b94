/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/target.h"

#include <algorithm>

namespace slurmkube::skube
{

namespace
{

bool is_job_id(const std::string &text)
{
	return !text.empty() && text.size() < 11 &&
		text.find_first_not_of("0123456789") == std::string::npos;
}

Target pod_of(const std::string &word, const std::string &name_space)
{
	const std::size_t slash = word.find('/');
	if (!name_space.empty() || slash == std::string::npos)
		return {.name_space = name_space, .name = word};
	return {.name_space = word.substr(0, slash), .name = word.substr(slash + 1)};
}

} // namespace

Result<Target> parse_target(const std::string &word, const std::string &name_space)
{
	const std::size_t slash = std::min(word.find('/'), word.size());
	const std::string kind = word.substr(0, slash),
			  name = word.substr(std::min(slash + 1, word.size()));
	if (word.empty() || (slash < word.size() && name.empty()))
		return Error{Errc::invalid, "'" + word + "' has no name after the slash"};
	const bool is_owner = (kind == "job" && !is_job_id(name)) ||
		(!kind.empty() && kind[0] >= 'A' && kind[0] <= 'Z');
	if (slash == word.size() || kind == "pod")
		return pod_of(slash == word.size() ? word : name, name_space);
	if (is_owner)
		return Target{.is = Target::Is::owner,
			.name_space = name_space.empty() ? "default" : name_space,
			.name = name,
			.kind = kind};
	if (!name_space.empty())
		return Error{Errc::invalid, "--namespace and " + word + " exclude each other"};
	if (kind == "node")
		return Target{.is = Target::Is::node, .name = name};
	if (kind == "job")
		return Target{.is = Target::Is::job, .job = std::stoll(name)};
	return pod_of(word, "");
}

std::string full_name(const Target &target)
{
	return (target.name_space.empty() ? "default" : target.name_space) + "/" + target.name;
}

void put_target(json_object *request, const Target &target)
{
	if (target.is == Target::Is::node)
		codec::put(request, "node", target.name);
	if (target.is == Target::Is::job)
		codec::put(request, "job", target.job);
	if (target.is == Target::Is::pod)
		codec::put(request, "pod",
			target.name_space.empty() ? target.name : full_name(target));
	if (target.is != Target::Is::owner)
		return;
	codec::Json owner = codec::new_object();
	codec::put(owner.get(), "kind", target.kind);
	codec::put(owner.get(), "namespace", target.name_space);
	codec::put(owner.get(), "name", target.name);
	codec::put(request, "owner", std::move(owner));
}

} // namespace slurmkube::skube
