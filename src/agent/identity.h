/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity.h - users and groups of this machine, by name or number. May block (NSS): at start, or
 * on a thread of its own.
 */
#ifndef SLURMKUBE_AGENT_IDENTITY_H
#define SLURMKUBE_AGENT_IDENTITY_H

#include "src/base/result.h"

#include <cstdint>
#include <string>

namespace slurmkube::agent
{

struct Identity {
	std::uint32_t user_id = 0, group_id = 0;
};

/* All: again where the directory behind NSS does not answer; that is not "nobody".
 * A number needs no entry: its primary group is then the same number. not_found: nobody has that
 * name. invalid: out of range. */
Result<Identity> find_user(const std::string &name_or_number);
/* The same, but a number that nobody has is not_found too. */
Result<Identity> find_known_user(const std::string &name_or_number);
Result<std::uint32_t> find_group(const std::string &name_or_number);

} // namespace slurmkube::agent

#endif
