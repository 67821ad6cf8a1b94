/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lease.h - a Lease of coordination.k8s.io/v1 from and to JSON.
 */
#ifndef SLURMKUBE_CODEC_LEASE_H
#define SLURMKUBE_CODEC_LEASE_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/lease/lease.h"

#include <string>

namespace slurmkube::codec
{

/* invalid: the object is not a Lease. Times that cannot be read are 0. */
Result<core::LeaseRecord> lease_from_json(json_object *object);

/* For a POST without, and for a PUT with a resource version. */
std::string lease_body(
	const std::string &name_space, const std::string &name, const core::LeaseRecord &record);

} // namespace slurmkube::codec

#endif
