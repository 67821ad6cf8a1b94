/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/skube/local_commands.h"

#include "src/core/options/options.h"
#include "src/core/options/text.h"
#include "src/skube/kubeconfig.h"
#include "src/skube/socket_path.h"
#include "src/skube/teardown.h"

#include <cstdio>
#include <optional>

namespace slurmkube::skube
{

namespace
{

/* The table of options is in skube, so no agent is needed. */
int explain(const Options &options)
{
	const auto text = options.words.size() == 2 ? std::optional(core::explain_options())
						    : core::explain_option(options.words[2]);
	if (!text) {
		(void)fprintf(stderr, "skube: no option %s; %s\n", options.words[2].c_str(),
			core::suggestions(options.words[2]).c_str());
		return k_wrong;
	}
	return fputs(text->c_str(), stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

int print_trouble(const Status &status)
{
	if (status)
		return k_fine;
	(void)fflush(stdout);
	(void)fprintf(stderr, "skube: %s\n", status.error().what.c_str());
	return k_wrong;
}

int make_kubeconfig(Options &options)
{
	if (options.words.size() == 2)
		options.files.kubeconfig = options.words[1];
	for (const std::string &file : {options.files.kubeconfig, options.files.token}) {
		if (file.empty() || file[0] != '/')
			return usage_error("kubeconfig: '" + file + "' is not an absolute path");
	}
	return print_trouble(skube::write_kubeconfig(options.files));
}

int tear_down(Options &options)
{
	options.teardown.socket = place_of_socket(options.socket).path;
	return print_trouble(teardown(options.teardown));
}

} // namespace

int run_local(unsigned id, Options &options)
{
	if (id == k_explain)
		return explain(options);
	if (id == k_kubeconfig)
		return make_kubeconfig(options);
	if (id == k_teardown)
		return tear_down(options);
	return fputs(k_help, stdout) >= 0 && fflush(stdout) == 0 ? k_fine : k_wrong;
}

} // namespace slurmkube::skube
