/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/lease.h"

#include "src/codec/time.h"

namespace slurmkube::codec
{

namespace
{

constexpr char k_version[] = "coordination.k8s.io/v1";

std::int64_t time_in(json_object *spec, const char *key)
{
	const auto seconds = parse_time(get_string(spec, key));
	return seconds ? *seconds : 0;
}

std::string micro_time(std::int64_t seconds)
{
	return format_micro_time(seconds * 1'000'000);
}

Json metadata_of(
	const std::string &name_space, const std::string &name, const std::string &resource_version)
{
	Json labels = new_object(), metadata = new_object();
	put(labels.get(), "app.kubernetes.io/name", "slurm-kube");
	put(metadata.get(), "name", name);
	put(metadata.get(), "namespace", name_space);
	put(metadata.get(), "labels", std::move(labels));
	if (!resource_version.empty())
		put(metadata.get(), "resourceVersion", resource_version);
	return metadata;
}

} // namespace

Result<core::LeaseRecord> lease_from_json(json_object *object)
{
	json_object *spec = get(object, "spec");
	core::LeaseRecord record;
	record.resource_version = get_string(get(object, "metadata"), "resourceVersion");
	if (get_string(object, "kind") != "Lease" || record.resource_version.empty())
		return Error{Errc::invalid, "the answer is not a Lease"};
	record.holder = get_string(spec, "holderIdentity");
	record.duration_seconds = get_int(spec, "leaseDurationSeconds");
	record.acquired_s = time_in(spec, "acquireTime");
	record.renewed_s = time_in(spec, "renewTime");
	record.transitions = get_int(spec, "leaseTransitions");
	return record;
}

std::string lease_body(
	const std::string &name_space, const std::string &name, const core::LeaseRecord &record)
{
	Json spec = new_object(), body = new_object();
	put(spec.get(), "holderIdentity", record.holder);
	put(spec.get(), "leaseDurationSeconds", record.duration_seconds);
	put(spec.get(), "acquireTime", micro_time(record.acquired_s));
	put(spec.get(), "renewTime", micro_time(record.renewed_s));
	put(spec.get(), "leaseTransitions", record.transitions);
	put(body.get(), "apiVersion", k_version);
	put(body.get(), "kind", "Lease");
	put(body.get(), "metadata", metadata_of(name_space, name, record.resource_version));
	put(body.get(), "spec", std::move(spec));
	return to_text(body.get());
}

} // namespace slurmkube::codec
