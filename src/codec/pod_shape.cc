/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/pod_shape.h"

namespace slurmkube::codec
{

const Shape *shape_of(std::string_view kind)
{
	using namespace shapes;
	return kind == "Pod" ? &k_pod : kind == "PodList" ? &k_pod_list : kind == "Status" ? &k_answer : nullptr;
}

} // namespace slurmkube::codec
