/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * managed_fields.h - Kubernetes objects without what nobody here reads.
 *
 * More than half of a pod's JSON is metadata.managedFields, and parsing it is most of what a watch
 * costs. So it is cut out of the text before: each array of that name becomes empty. Pure; foreign
 * input: text that is not JSON gives some text that may be read or not.
 */
#ifndef SLURMKUBE_CODEC_MANAGED_FIELDS_H
#define SLURMKUBE_CODEC_MANAGED_FIELDS_H

#include <string>
#include <string_view>

namespace slurmkube::codec
{

/* Of valid JSON: the same value but for arrays named managedFields, of which some or all are empty.
 * Never longer than json. */
std::string without_managed_fields(std::string_view json);

} // namespace slurmkube::codec

#endif
