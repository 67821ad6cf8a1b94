/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lease.h - whether this agent may act, by the Lease that the agents of one scheduler name share.
 *
 * Only one Slurm cluster may serve the pods of a scheduler name: each would submit a job for each
 * pod, and the end of either job would delete the pod. Between the controllers of one Slurm cluster
 * the plugin's link decides, so an agent takes the Lease from another agent of its ClusterName at
 * once. If that agent takes it back, again and again, both controllers are in control: one is a
 * copy. The agent that came second then stops.
 *
 * A holder that does not renew the Lease loses it. That is judged as in client-go: a Lease has
 * expired when it has not changed for its duration by the own clock, and only the time counts in
 * which the API server has answered. No clocks of two machines are compared.
 *
 * judge_lease() is pure; LeaseJudge remembers what it needs.
 */
#ifndef SLURMKUBE_CORE_LEASE_LEASE_H
#define SLURMKUBE_CORE_LEASE_LEASE_H

#include "src/core/model/now.h"
#include "src/core/model/plugin.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace slurmkube::core
{

/* A slurmctld in one period of control: a copy of its machine may have the same host name. */
struct LeaseHolder {
	std::string cluster; /* Slurm's ClusterName */
	std::string host;
	std::int64_t control_since_us = 0;
	bool operator==(const LeaseHolder &) const = default;
};
/* "prod@ctl1_1795230537000007", the form of holderIdentity. Any other text is a cluster of that
 * name. */
std::string text_of(const LeaseHolder &holder);
LeaseHolder lease_holder_of(std::string_view text);

/* The Lease as the API server has it. */
struct LeaseRecord {
	std::string holder; /* holderIdentity; empty: no holder */
	std::string resource_version;
	std::int64_t duration_seconds = 0;
	std::int64_t acquired_s = 0, renewed_s = 0; /* by the holder's clock */
	std::int64_t transitions = 0;
	bool operator==(const LeaseRecord &) const = default;
};

/* The Lease of a scheduler name: "slurmkubed-slurm". Different names have different leases. */
std::string lease_name(std::string_view scheduler_name);

enum class LeaseStanding {
	undecided,     /* nothing may be done yet */
	free,          /* no other Slurm cluster serves the pods */
	other_cluster, /* another Slurm cluster does */
	contested,     /* another controller of the same Slurm cluster does, and came first */
};

/* Reported to World. */
struct LeaseState {
	LeaseStanding standing = LeaseStanding::undecided;
	std::string lease;               /* "slurm-kube/slurmkubed-slurm" */
	LeaseHolder self;                /* without a link only its cluster is known */
	std::optional<LeaseHolder> held; /* by whom; empty: by none */
	std::string trouble;             /* why the Lease cannot be read or written */
	/* When it was read last, monotonic; 0: never, or we lack the right to read it. */
	std::int64_t read_us = 0;
	/* There was no Lease when it was read first. Who led before is not known. */
	bool is_new = false;
	bool operator==(const LeaseState &) const = default;
};
/* Another agent leads, and this one does nothing. */
bool stands_aside(const LeaseState &state);
/* Whether no other agent can have taken the Lease since without our having seen it. */
bool is_fresh(const LeaseState &state, Now now);

/* ---- the decision ---- */

struct LeaseFacts {
	std::string cluster;             /* our ClusterName */
	std::optional<LeaseHolder> self; /* empty: no slurmctld in control is connected */
	std::optional<LeaseHolder> held;
	bool is_read = false;    /* the Lease has been read */
	bool is_expired = false; /* and has not changed for its duration */
	bool is_due = false;     /* the last write is long ago */
	bool was_ours = false;   /* we were its last holder */
	bool is_refused = false; /* we lack the rights to read or to write the Lease */
	bool is_contested = false;
	/* Recently, from living agents of our ClusterName; first: from those that held the Lease
	 * before us. */
	unsigned takings = 0, first_takings = 0;
};
struct LeaseVerdict {
	LeaseStanding standing = LeaseStanding::undecided;
	bool writes = false;
	bool operator==(const LeaseVerdict &) const = default;
};
LeaseVerdict judge_lease(const LeaseFacts &facts);

class LeaseJudge
{
      public:
	/* lease, slurm_cluster: as in LeaseState */
	LeaseJudge(std::string lease, std::string slurm_cluster);

	void link_opened(const PluginHello &hello, Now now);
	void link_heard(Now now) { heard_us_ = now.mono_us; }
	void link_closed();

	/* nullopt: there is no Lease. */
	void seen(std::optional<LeaseRecord> record, Now now);
	/* Our write was accepted; the Lease as it is now. */
	void written(LeaseRecord record, Now now);
	/* The Lease could not be read, or not be written. is_refusal: an administrator must act. */
	void not_read(std::string trouble, bool is_refusal, Now now);
	void not_written(std::string trouble, bool is_refusal, Now now);

	/* Judges anew. Returns the Lease to be written, if any; one with a resource version
	 * replaces the Lease that has this version, another one is created. */
	std::optional<LeaseRecord> decide(Now now);
	[[nodiscard]] const LeaseState &state() const { return state_; }

      private:
	[[nodiscard]] std::optional<LeaseHolder> self(Now now) const;
	[[nodiscard]] std::optional<LeaseHolder> holder() const;
	[[nodiscard]] bool is_expired() const;
	[[nodiscard]] LeaseFacts facts(Now now) const;
	[[nodiscard]] LeaseRecord record_of(const LeaseHolder &self, Now now) const;

	LeaseState state_;
	std::optional<LeaseHolder> self_;
	std::int64_t heard_us_ = 0;
	std::optional<LeaseRecord> record_;
	bool is_read_ = false, was_ours_ = false, is_contested_ = false;
	bool reading_is_refused_ = false, writing_is_refused_ = false, writing_failed_ = false;
	std::int64_t read_us_ = 0, changed_us_ = 0, written_us_ = 0, renewed_us_ = 0,
		     refused_since_us_ = 0;
	std::vector<std::int64_t> takings_us_, first_takings_us_;
	/* holders that we were the first to take the Lease from, and that took it from us first */
	std::set<std::string> before_us_, after_us_;
};

} // namespace slurmkube::core

#endif
