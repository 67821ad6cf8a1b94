/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of devices (skube show devices). */
#include "src/agent/replies_parts.h"
#include "src/core/inspect/device_rows.h"

namespace slurmkube::agent
{

namespace
{

using codec::append;
using codec::Json;
using codec::new_array;
using codec::new_object;
using codec::put;

const char *state_of(const core::DeviceRow &row)
{
	if (!row.index)
		return "unrecorded";
	if (row.job)
		return "allocated";
	if (!row.is_published)
		return "missing";
	return row.is_tainted ? "tainted" : "free";
}

Json device_row(const core::DeviceRow &device, const ctl::Peer &peer)
{
	Json row = new_object();
	put(row.get(), "node", device.node);
	put(row.get(), "gres", device.gres);
	put(row.get(), "type", device.type);
	if (device.index)
		put(row.get(), "index", *device.index);
	put(row.get(), "driver", device.device.pool.driver);
	put(row.get(), "pool", device.device.pool.name);
	put(row.get(), "device", device.device.name);
	put(row.get(), "state", state_of(device));
	put(row.get(), "published", device.is_published);
	if (!device.job || !peer.may_see(device.job->user_id))
		return row;
	put(row.get(), "job", device.job->id.number);
	put(row.get(), "namespace", device.job->marker.name_space);
	put(row.get(), "pod", device.job->marker.name);
	return row;
}

} // namespace

std::string devices_reply(const App &app, const ctl::Peer &peer)
{
	const core::DeviceReport report = core::report_devices(app.world().state(), now().mono_us);
	Json rows = new_array(), troubles = new_array();
	for (const core::DeviceRow &device : report.rows)
		append(rows.get(), device_row(device, peer));
	for (const core::DeviceTrouble &one : report.troubles) {
		Json row = new_object();
		put(row.get(), "node", one.node);
		put(row.get(), "gres", one.gres);
		put(row.get(), "driver", one.driver);
		put(row.get(), "why", one.why);
		append(troubles.get(), std::move(row));
	}
	Json reply = ok_reply();
	put(reply.get(), "rules", static_cast<std::int64_t>(app.config().devices.size()));
	put(reply.get(), "devices", std::move(rows));
	put(reply.get(), "troubles", std::move(troubles));
	return codec::to_text(reply.get());
}

} // namespace slurmkube::agent
