/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pod_shape.h - what is read of pods, lists of them and the server's Status, by field number.
 *
 * Source: k8s.io/api core/v1 and k8s.io/apimachinery pkg/apis/meta/v1, generated.proto. Numbers are for good: a field that goes leaves its number unused.
 */
#ifndef SLURMKUBE_CODEC_POD_SHAPE_H
#define SLURMKUBE_CODEC_POD_SHAPE_H

#include "src/codec/shape.h"

namespace slurmkube::codec
{

/* "Pod", "PodList", "Status"; nullptr: no other kind is read in protobuf. */
const Shape *shape_of(std::string_view kind);

} // namespace slurmkube::codec

#endif
