/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * managed_fields.h - removes metadata.managedFields from objects before they are parsed.
 *
 * More than half of a pod's JSON is metadata.managedFields, which slurm-kube does not read, and
 * parsing it is most of what a watch costs. So every array of that name becomes empty while the
 * object is still text. Pure; input from other programs: for text that is not JSON the result is
 * arbitrary text.
 */
#ifndef SLURMKUBE_CODEC_MANAGED_FIELDS_H
#define SLURMKUBE_CODEC_MANAGED_FIELDS_H

#include <string>
#include <string_view>

namespace slurmkube::codec
{

/* For valid JSON: the same value, except that some or all arrays named managedFields are empty.
 * Never longer than json. */
std::string without_managed_fields(std::string_view json);

} // namespace slurmkube::codec

#endif
