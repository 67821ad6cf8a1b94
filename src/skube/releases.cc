/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/releases.h"

#include "src/base/programs.h"
#include "src/base/text.h"
#include "src/codec/json.h"
#include "src/skube/options.h"
#include "src/skube/request.h"
#include "src/skube/yaml.h"

#include <cstdio>
#include <utility>

namespace slurmkube::skube
{

namespace
{

using codec::get;
using codec::get_string;

constexpr std::size_t k_answer_max = std::size_t{64} << 10;

/* The names of the members, in the order of the chain. */
constexpr const char *k_names[] = {"skube", "slurmkubed", "plugin", "slurmctld", "kubernetes"};

void put_known(json_object *out, const char *name, const std::string &release)
{
	if (!release.empty())
		codec::put(out, name, printable(release));
}

codec::Json ask_kubernetes(const ReleaseRequest &wanted)
{
	Words command = {"kubectl", "--request-timeout=5s", "version", "--output", "json"};
	for (const auto &[option, value] : {std::pair("--kubeconfig", &wanted.kubeconfig),
		     std::pair("--context", &wanted.context)}) {
		if (!value->empty())
			command.insert(command.end(), {option, *value});
	}
	const auto text = output_of(command);
	auto answer =
		text ? codec::parse_json(*text, k_answer_max) : Result<codec::Json>(text.error());
	return answer ? std::move(answer).value() : codec::Json();
}

} // namespace

codec::Json releases_of(json_object *ping, json_object *kubernetes)
{
	codec::Json out = codec::new_object();
	put_known(out.get(), "skube", SLURMKUBE_VERSION);
	put_known(out.get(), "slurmkubed", get_string(ping, "version"));
	put_known(out.get(), "plugin", get_string(ping, "plugin_version"));
	put_known(out.get(), "slurmctld", get_string(ping, "slurm_version"));
	put_known(out.get(), "kubernetes",
		get_string(get(kubernetes, "serverVersion"), "gitVersion"));
	return out;
}

std::string releases_text(json_object *releases)
{
	Table table({{"PROGRAM"}, {"RELEASE"}});
	for (const char *name : k_names)
		table.add({name, get_string(releases, name, "not known")});
	return table.text();
}

bool are_one_release(json_object *releases)
{
	for (const char *name : {"slurmkubed", "plugin"}) {
		const std::string release = get_string(releases, name);
		if (!release.empty() && release != SLURMKUBE_VERSION)
			return false;
	}
	return true;
}

int print_releases(const ReleaseRequest &wanted)
{
	const auto ping = ask(wanted.socket, "ping");
	const codec::Json kubernetes = ask_kubernetes(wanted);
	const codec::Json releases = releases_of(ping ? ping->get() : nullptr, kubernetes.get());
	const std::string text = wanted.format == Format::json ? json_text(releases.get())
		: wanted.format == Format::yaml                ? yaml_text(releases.get())
							       : releases_text(releases.get());
	if (fputs(text.c_str(), stdout) < 0 || fflush(stdout) != 0)
		return k_wrong;
	if (!ping)
		(void)fprintf(stderr, "skube: %s\n", ping.error().what.c_str());
	return ping ? (are_one_release(releases.get()) ? k_fine : k_wrong) : k_unreachable;
}

} // namespace slurmkube::skube
