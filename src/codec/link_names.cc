/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * link_names.cc - the names of states in lines of the link, in both directions.
 */
#include "src/codec/link.h"

#include <iterator>

namespace slurmkube::codec
{

namespace
{

using core::Family;
using core::JobState;
using core::NodeBase;

template <class E> struct Name {
	E value;
	const char *text;
};

constexpr Name<JobState> k_job_states[] = {
	{JobState::pending, "pending"},
	{JobState::running, "running"},
	{JobState::suspended, "suspended"},
	{JobState::complete, "complete"},
	{JobState::cancelled, "cancelled"},
	{JobState::failed, "failed"},
	{JobState::timeout, "timeout"},
	{JobState::node_fail, "node_fail"},
	{JobState::preempted, "preempted"},
	{JobState::boot_fail, "boot_fail"},
	{JobState::deadline, "deadline"},
	{JobState::oom, "oom"},
};

constexpr Name<NodeBase> k_node_bases[] = {
	{NodeBase::down, "down"},
	{NodeBase::idle, "idle"},
	{NodeBase::allocated, "allocated"},
	{NodeBase::mixed, "mixed"},
	{NodeBase::error, "error"},
	{NodeBase::future, "future"},
};

template <class Table, class E> const char *text_of(const Table &table, E value)
{
	for (const auto &entry : table)
		if (entry.value == value)
			return entry.text;
	return "unknown";
}

template <class E, std::size_t N>
E value_of(const Name<E> (&table)[N], std::string_view text, E fallback)
{
	for (const auto &entry : table)
		if (text == entry.text)
			return entry.value;
	return fallback;
}

} // namespace

const char *to_name(JobState state)
{
	return text_of(k_job_states, state);
}

const char *to_name(NodeBase base)
{
	return text_of(k_node_bases, base);
}

const char *to_name(Family family)
{
	return family == Family::native ? "native" : "emulated";
}

JobState job_state_from_name(std::string_view name)
{
	return value_of(k_job_states, name, JobState::unknown);
}

NodeBase node_base_from_name(std::string_view name)
{
	return value_of(k_node_bases, name, NodeBase::unknown);
}

} // namespace slurmkube::codec
