/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * manifests.h - skube manifests: prints what kubectl apply needs for the configuration of the site.
 */
#ifndef SLURMKUBE_SKUBE_MANIFESTS_H
#define SLURMKUBE_SKUBE_MANIFESTS_H

#include "src/base/result.h"
#include "src/manifests/site.h"

#include <string>

namespace slurmkube::skube
{

struct ManifestOptions {
	std::string config;  /* path of slurmkubed.yaml; empty: the usual one, if it exists */
	std::string only;    /* names of parts, separated by commas; empty: the default parts */
	std::string account; /* NAMESPACE/NAME of the agent; empty: the usual one */
};

/* A site with the account of --account, NAMESPACE/NAME; empty: the usual one. invalid: not such a
 * name. */
Result<manifests::Site> account_site(const std::string &account);

/* invalid: the command line is wrong. */
Status check_options(const ManifestOptions &options);

/* YAML. Reads the file; the options must have passed check_options(). */
Result<std::string> manifests_text(const ManifestOptions &options);

} // namespace slurmkube::skube

#endif
