/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner_store.h - the owners of pods, such as Jobs and JobSets, as the API server told them, and
 * which of them are to be asked for.
 *
 * Owners are not watched: a watch of all kinds there are would cost more than it is worth. Each is
 * asked for by name when a pod needs it to be placed, and again while pods that have its options
 * wait. Knows no other store: pods are uids that wait for an answer.
 */
#ifndef SLURMKUBE_CORE_WORLD_OWNER_STORE_H
#define SLURMKUBE_CORE_WORLD_OWNER_STORE_H

#include "src/base/result.h"
#include "src/core/gang/grouping.h"
#include "src/core/model/now.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace slurmkube::core
{

class OwnerStore
{
      public:
	/* What an answer means for others. */
	struct Change {
		std::set<PodUid> waiting; /* pods that could not be placed without it */
		/* its options or its deadline are others than those that pods have */
		bool is_other = false;
		/* as it is known by now; valid until the next call that is not const */
		const Owner *owner = nullptr;
	};

	/* An empty optional: there is no such object. An error is asked about again. */
	Change seen(const OwnerId &id, Result<std::optional<Owner>> answer, Now now);

	/* nullptr: not answered yet. */
	[[nodiscard]] OwnerAnswer answer_of(const OwnerId &id) const;
	/*
	 * For a pod that is being placed since then. What was said before may be about another
	 * object of that name, or about another size of it; without a uid nothing tells whether it
	 * is.
	 */
	[[nodiscard]] OwnerAnswer answer_for(
		const OwnerId &id, const std::string &uid, std::int64_t since_us) const;
	/* Whether its answer, if there is one, is from then or later. */
	[[nodiscard]] bool is_answered_since(const OwnerId &id, std::int64_t since_us) const;

	/* Unless there is an answer that came later than that. */
	void ask(const OwnerId &id, std::int64_t newer_than_us);
	/* The same, for the sake of that pod: see Change::waiting. */
	void ask_for(const PodUid &pod, const OwnerId &id, std::int64_t newer_than_us);
	/* An owner whose options pods have that wait. false: it is too early for that. */
	bool ask_again(const OwnerId &id, Now now);
	/* Each is answered by seen(). */
	std::vector<OwnerId> take_questions(Now now);

	/* A pod of that namespace may be a member of any gang there: nobody has said whose it
	 * is. */
	[[nodiscard]] bool is_anybody_unplaced(const std::string &name_space) const;
	/* Which owner the pod waits for, and why; empty: none. */
	[[nodiscard]] std::string wanted_by(const PodUid &pod) const;

      private:
	struct Entry {
		/* empty inside: there is no such object */
		std::optional<std::optional<Owner>> answer;
		std::string trouble; /* why it cannot be asked for */
		bool is_asked = false;
		bool is_again = false; /* since pods wait that have its options */
		/* answered: when it was asked, since when nobody knows */
		std::int64_t asked_us = 0, answered_us = 0, ask_at_us = 0;
		std::set<PodUid> waiting;
	};
	void forget_old(Now now);

	std::map<OwnerId, Entry> entries_;
	std::set<OwnerId> questions_;
};

/* An answer that was true so shortly before somebody came is true of it. */
inline constexpr std::int64_t k_owner_fresh_us = 2'000'000;
/* After an error, or for an object that does not exist yet. */
inline constexpr std::int64_t k_owner_again_us = 2'000'000;

} // namespace slurmkube::core

#endif
