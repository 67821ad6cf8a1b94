/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs as dra-driver-cpu publishes them in its mode "individual", and pods with claims for them. */
#ifndef SLURMKUBE_TESTSUITE_UNIT_DEVICE_CPUS_H
#define SLURMKUBE_TESTSUITE_UNIT_DEVICE_CPUS_H

#include "testsuite/unit/builders.h"
#include "testsuite/unit/device_facts.h"

#include <cstdio>

namespace slurmkube::check
{

inline constexpr char k_cpu_driver[] = "dra.cpu";

/* cpudev002 */
inline std::string cpu_name(int number)
{
	char text[32];
	(void)std::snprintf(text, sizeof(text), "cpudev%03d", number);
	return text;
}

inline core::SliceDevice cpu(
	int number, std::int64_t socket, std::int64_t core, std::int64_t linux_number)
{
	core::SliceDevice out;
	out.name = cpu_name(number);
	out.properties.driver = k_cpu_driver;
	core::cel::add_attribute(out.properties, "dra.cpu/socketID", socket);
	core::cel::add_attribute(out.properties, "dra.cpu/coreID", core);
	core::cel::add_attribute(out.properties, "dra.cpu/cpuID", linux_number);
	return out;
}

/* All CPUs of a node, each a core of one socket. */
inline core::ResourceSlice cpu_slice(const std::string &node, int cpus)
{
	std::vector<core::SliceDevice> devices;
	for (int i = 0; i < cpus; i++)
		devices.push_back(cpu(i, 0, i, i));
	core::ResourceSlice out = slice(node, std::move(devices));
	out.pool.driver = k_cpu_driver;
	return out;
}

inline core::DeviceRule cores()
{
	core::DeviceRule out;
	out.driver = k_cpu_driver;
	out.gres = core::k_cores;
	out.is_cores = true;
	return out;
}

inline core::DeviceClass cpu_class()
{
	return {"dra.cpu", "uid-dra.cpu", {"device.driver == 'dra.cpu'"}, {}, ""};
}

inline core::DeviceRequest cpu_request(const std::string &name, std::int64_t count)
{
	core::DeviceRequest out = request(name, count);
	out.device_class = "dra.cpu";
	return out;
}

/* "slurm-kube:cores@dra.cpu=cpudev000,cpudev001" */
inline std::string cores_word(int cpus)
{
	std::string out = "slurm-kube:cores@dra.cpu=";
	for (int i = 0; i < cpus; i++)
		out += (i == 0 ? "" : ",") + cpu_name(i);
	return out;
}

/* A pod with one container that has claim c. */
inline core::Pod cpu_pod(const std::string &uid, const std::string &claim, std::int64_t milli_cpu)
{
	core::Pod p = make_pod("default", "pod-" + uid, uid, make_requests(milli_cpu));
	p.resource_claims = {{"cpus", claim, false, false}};
	p.container_claims = {{"main", false, false, milli_cpu, {"cpus"}}};
	return p;
}

} // namespace slurmkube::check

#endif
