/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * identity.h - users and groups of this machine, by name or number. The functions may block in NSS:
 * call them at startup or on a thread of their own.
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

/* Errors of all three functions: again: the directory behind NSS did not answer, which does not
 * mean that the user does not exist; not_found: no user has the name; invalid: the number is out of
 * range. find_user() accepts a number without an entry; the primary group is then the same
 * number. */
Result<Identity> find_user(const std::string &name_or_number);
/* Like find_user(), but a number without an entry is not_found. */
Result<Identity> find_known_user(const std::string &name_or_number);
Result<std::uint32_t> find_group(const std::string &name_or_number);

} // namespace slurmkube::agent

#endif
