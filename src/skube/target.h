/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - the object that a command is about, as users write it: [NAMESPACE/]POD, pod/POD,
 * node/NAME, job/ID, or KIND/NAME of the owner of pods. Pure.
 *
 * A prefix is what no namespace can be (a kind is written with a capital letter), or one of node/,
 * job/ and pod/.
 */
#ifndef SLURMKUBE_SKUBE_TARGET_H
#define SLURMKUBE_SKUBE_TARGET_H

#include "src/base/result.h"
#include "src/codec/json.h"

#include <cstdint>
#include <string>

namespace slurmkube::skube
{

struct Target {
	enum class Is { pod, node, job, owner };
	Is is = Is::pod;
	/* of pods and owners; of a pod empty if none was given, which stands for "default" */
	std::string name_space = {};
	std::string name = {};
	std::string kind = {}; /* of owners */
	std::int64_t job = 0;  /* of jobs */
};

/* name_space: the option --namespace, or empty. invalid: no name, or a namespace for something that
 * has none. */
Result<Target> parse_target(const std::string &word, const std::string &name_space);

/* "namespace/name" of a pod or owner. */
std::string full_name(const Target &target);

/* The members of the request `why`. */
void put_target(json_object *request, const Target &target);

} // namespace slurmkube::skube

#endif
