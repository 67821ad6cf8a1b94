/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * owner_store.h - the owners of pods, such as Jobs and JobSets, as the API server reported them,
 * and which of them have to be asked for.
 *
 * Owners are not watched, because watches of all kinds would cost more than they are worth. An
 * owner is asked for by name when a pod cannot be grouped without it, and again while pods that
 * inherit its options wait. This store knows no other store: it knows pods only as uids that wait
 * for an answer.
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
	/* What an answer means for pods. */
	struct Change {
		std::set<PodUid> waiting; /* pods that could not be grouped without it */
		/* the options or the deadline differ from those that pods have inherited */
		bool is_other = false;
		/* the owner as last reported, or nullptr; valid until the next call that is not
		 * const */
		const Owner *owner = nullptr;
	};

	/* An empty optional: the object does not exist. After an error the question is repeated. */
	Change seen(const OwnerId &id, Result<std::optional<Owner>> answer, Now now);

	/* nullptr: the owner has not been reported yet. */
	[[nodiscard]] OwnerAnswer answer_of(const OwnerId &id) const;
	/*
	 * The answer for a pod whose grouping began at since_us. An older answer may be about
	 * another object of that name, or about an earlier size of the object. If it has the right
	 * uid, it may be older by k_owner_fresh_us; without a uid, nothing tells which object it is
	 * about. nullptr: it has to be asked for.
	 */
	[[nodiscard]] OwnerAnswer answer_for(
		const OwnerId &id, const std::string &uid, std::int64_t since_us) const;
	/* Whether there is an answer that was asked for at that time or later. */
	[[nodiscard]] bool is_answered_since(const OwnerId &id, std::int64_t since_us) const;

	/* Asks for the owner, unless there is an answer that was asked for at that time or
	 * later. */
	void ask(const OwnerId &id, std::int64_t newer_than_us);
	/* As ask(), and the pod waits for the answer: see Change::waiting. */
	void ask_for(const PodUid &pod, const OwnerId &id, std::int64_t newer_than_us);
	/* Asks again for an owner whose options waiting pods have inherited. false: it was not
	 * necessary yet. */
	bool ask_again(const OwnerId &id, Now now);
	/* The owners to ask for; seen() must follow for each. */
	std::vector<OwnerId> take_questions(Now now);

	/* A pod of the namespace waits for an owner that has not answered, so it may be a member of
	 * any gang there. */
	[[nodiscard]] bool has_ungrouped_pods(const std::string &name_space) const;
	/* The owner that the pod waits for, and why, as text for users; empty: none. */
	[[nodiscard]] std::string wanted_by(const PodUid &pod) const;

      private:
	struct Entry {
		/* the inner optional is empty if the object does not exist */
		std::optional<std::optional<Owner>> answer;
		/* the error of the last request; empty: it succeeded */
		std::string trouble;
		bool is_asked = false;
		bool is_again = false; /* asked by ask_again() */
		/* answered_us: when the answer was asked for, because nothing is known since
		 * then */
		std::int64_t asked_us = 0, answered_us = 0, ask_at_us = 0;
		std::set<PodUid> waiting;
	};
	void forget_old(Now now);

	std::map<OwnerId, Entry> entries_;
	std::set<OwnerId> questions_;
};

/* An answer that was correct this long before a pod came is correct for the pod as well. */
inline constexpr std::int64_t k_owner_fresh_us = 2'000'000;
/* Pause after an error, and before an object that does not exist yet is asked for again. */
inline constexpr std::int64_t k_owner_again_us = 2'000'000;

} // namespace slurmkube::core

#endif
