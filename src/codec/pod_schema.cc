/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/pod_schema.h"

namespace slurmkube::codec
{

const ProtoSchema *schema_of(std::string_view kind)
{
	using namespace schema;
	return kind == "Pod"        ? &k_pod
		: kind == "PodList" ? &k_pod_list
		: kind == "Status"  ? &k_answer
				    : nullptr;
}

} // namespace slurmkube::codec
