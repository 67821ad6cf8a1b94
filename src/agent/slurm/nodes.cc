/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/agent/slurm/nodes.h"

#include "src/agent/slurm/compat.h"
#include "src/agent/slurm/errors.h"
#include "src/base/owned.h"
#include "src/core/model/names.h"
#include "src/core/reconcile/node_sync.h"

#include <cerrno>
#include <string_view>
#include <unistd.h>

namespace slurmkube::slurm
{

namespace
{

Status answer(int rc)
{
	if (rc != SLURM_SUCCESS)
		return error_of(errno);
	return Ok{};
}

std::uint32_t state_bits(core::NodeStateChange change)
{
	switch (change) {
	case core::NodeStateChange::drain:
		return NODE_STATE_DRAIN;
	case core::NodeStateChange::undrain:
		return NODE_STATE_UNDRAIN;
	case core::NodeStateChange::down:
		return NODE_STATE_DOWN;
	case core::NodeStateChange::up:
		return NODE_RESUME;
	}
	return NO_VAL;
}

using NodeTable = Owned<node_info_msg_t, slurm_free_node_info_msg>;

Result<bool> node_exists(const std::string &name)
{
	std::string name_text = name;
	node_info_msg_t *raw = nullptr;
	if (slurm_load_node_single(&raw, name_text.data(), SHOW_ALL) != SLURM_SUCCESS)
		return errno == ESLURM_INVALID_NODE_NAME ? Result<bool>(false)
							 : Result<bool>(error_of(errno));
	const NodeTable table(raw);
	return table->record_count > 0 && table->node_array[0].name != nullptr;
}

/* When Slurm refuses to create a node that exists, it removes the existing node (seen with
 * 24.11.5), so check first. */
Status check_absent(const std::string &name)
{
	const auto exists = node_exists(name);
	if (!exists)
		return exists.error();
	if (*exists)
		return Error{Errc::conflict, "node " + name + " exists already"};
	return Ok{};
}

bool is_out_of_service(const node_info_t &node)
{
	return (node.node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL)) != 0 ||
		(node.node_state & NODE_STATE_BASE) == NODE_STATE_DOWN;
}

bool is_theirs(const node_info_t &node)
{
	const std::string_view reason = node.reason ? node.reason : "";
	return is_out_of_service(node) && !reason.empty() &&
		!reason.starts_with(names::k_reason_prefix) && !core::is_failed_reboot(reason);
}

/* The change was decided on an older report of the plugin. If an administrator has drained the node
 * or set it DOWN since then, that must not be undone. */
Status check_ours(const std::string &name)
{
	std::string name_text = name;
	node_info_msg_t *raw = nullptr;
	if (slurm_load_node_single(&raw, name_text.data(), SHOW_ALL) != SLURM_SUCCESS)
		return error_of(errno);
	const NodeTable table(raw);
	if (table->record_count > 0 && is_theirs(table->node_array[0]))
		return Error{Errc::conflict,
			"node " + name + " is out of service for a reason that is not ours: " +
				table->node_array[0].reason};
	return Ok{};
}

/* For a change that keeps the administrator's reason: if he has returned the node to service since,
 * the node would be DOWN without a reason, and stay so. The next change has a reason of ours. */
Status check_out_of_service(const std::string &name)
{
	std::string name_text = name;
	node_info_msg_t *raw = nullptr;
	if (slurm_load_node_single(&raw, name_text.data(), SHOW_ALL) != SLURM_SUCCESS)
		return error_of(errno);
	const NodeTable table(raw);
	if (table->record_count > 0 && !is_out_of_service(table->node_array[0]))
		return Error{Errc::conflict, "node " + name + " is in service again"};
	return Ok{};
}

bool wants_reason(core::NodeStateChange change)
{
	return change == core::NodeStateChange::drain || change == core::NodeStateChange::down;
}

} // namespace

Status create_node(const core::NodeSpec &spec, core::Family family)
{
	if (!compat::k_has_dynamic_nodes)
		return Error{Errc::invalid,
			"nodes cannot be created in this version of Slurm: write the file that "
			"slurm.conf includes with 'skube nodes --slurm-conf --output FILE' and "
			"restart slurmctld"};
	auto line = core::node_line(spec, family == core::Family::native ? "EXTERNAL" : "CLOUD");
	if (!line)
		return line.error();
	if (auto absent = check_absent(spec.name); !absent)
		return absent.error();
	update_node_msg_t message;
	slurm_init_update_node_msg(&message);
	message.extra = line->data();
	const Status created = answer(slurm_create_node(&message));
	if (!created && !spec.gres.empty())
		return in_context("GRES " + spec.gres +
				": dynamic nodes need a line in gres.conf for it, as in NodeName=" +
				spec.name + " Name=gpu File=/dev/kube[0-3]",
			created.error());
	return created;
}

Status set_node_state(
	const std::string &name, core::NodeStateChange change, const std::string &reason)
{
	const bool keeps_reason = wants_reason(change) && reason.empty();
	if (auto checked = keeps_reason ? check_out_of_service(name) : check_ours(name); !checked)
		return checked.error();
	std::string name_text = name, reason_text = reason;
	update_node_msg_t message;
	slurm_init_update_node_msg(&message);
	message.node_names = name_text.data();
	message.node_state = state_bits(change);
	if (wants_reason(change) && !reason.empty()) {
		message.reason = reason_text.data();
		compat::set_reason_uid(message, getuid());
	}
	return answer(slurm_update_node(&message));
}

Status set_node_extra(const std::string &name, const std::string &extra)
{
	std::string name_text = name, extra_text = extra;
	update_node_msg_t message;
	slurm_init_update_node_msg(&message);
	message.node_names = name_text.data();
	message.extra = extra_text.data();
	return answer(slurm_update_node(&message));
}

Status delete_node(const std::string &name)
{
	std::string name_text = name;
	update_node_msg_t message;
	slurm_init_update_node_msg(&message);
	message.node_names = name_text.data();
	return answer(slurm_delete_node(&message));
}

} // namespace slurmkube::slurm
