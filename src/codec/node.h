/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * node.h - converts a v1 Node from JSON to core::KubeNode. The rules are those of pod.h;
 * allocatable is rounded down.
 */
#ifndef SLURMKUBE_CODEC_NODE_H
#define SLURMKUBE_CODEC_NODE_H

#include "src/base/result.h"
#include "src/codec/json.h"
#include "src/core/model/node.h"

namespace slurmkube::codec
{

Result<core::KubeNode> node_from_json(json_object *node);

} // namespace slurmkube::codec

#endif
