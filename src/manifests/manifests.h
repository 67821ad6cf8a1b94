/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * manifests.h - the objects that a cluster needs for slurm-kube, as one text for kubectl apply.
 *
 * The order is fixed, and the text depends on its arguments and the release only. `skube manifests`
 * prints it.
 */
#ifndef SLURMKUBE_MANIFESTS_MANIFESTS_H
#define SLURMKUBE_MANIFESTS_MANIFESTS_H

#include "src/manifests/site.h"

#include <span>
#include <string>
#include <vector>

namespace slurmkube::manifests
{

struct Part {
	const char *name; /* as users write it */
	const char *what; /* for people */
	bool by_default;  /* false: not every supported Kubernetes knows its kinds */
	std::string (*objects)(const Site &site);
};

std::span<const Part> parts();

/* invalid: a name that no part has. */
Status check_names(const std::vector<std::string> &names);

/* YAML of the parts with these names, in the order of parts(); no names: the default ones. Every
 * object has the labels app.kubernetes.io/name, part-of and version. invalid: an unknown name, or
 * a name of the site that the texts cannot take. */
Result<std::string> manifests(const Site &site, const std::vector<std::string> &names);

/* The text with these labels in the metadata of each of its objects. */
std::string labelled(const std::string &yaml);

} // namespace slurmkube::manifests

#endif
