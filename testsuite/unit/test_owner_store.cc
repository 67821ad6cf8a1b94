/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/core/world/owner_store.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::core;

namespace
{

const OwnerId k_job{.api_version = "batch/v1", .kind = "Job", .name_space = "a", .name = "j"};

Now at(std::int64_t seconds)
{
	return {.mono_us = seconds * 1'000'000, .wall_s = seconds};
}

std::optional<Owner> job(
	const std::string &uid, std::map<std::string, std::string> annotations = {})
{
	Owner owner;
	owner.uid = uid;
	owner.annotations = std::move(annotations);
	return owner;
}

void each_is_asked_for_once()
{
	OwnerStore store;
	store.ask_for({"p1"}, k_job, 0);
	store.ask_for({"p2"}, k_job, 0);
	CHECK_EQUAL(store.take_questions(at(1)).size(), 1U);
	store.ask_for({"p3"}, k_job, 0);
	CHECK(store.take_questions(at(2)).empty()); /* the request is under way */
	const OwnerStore::Change change = store.seen(k_job, job("u"), at(3));
	CHECK_EQUAL(change.waiting.size(), 3U);
	CHECK(change.owner && change.owner->uid == "u" && !change.is_other);
	store.ask_for({"p4"}, k_job, 500'000);
	CHECK(store.take_questions(at(4)).empty()); /* the answer is newer than this request */
}

void an_error_is_asked_about_again_in_two_seconds()
{
	OwnerStore store;
	store.ask_for({"p"}, k_job, 0);
	(void)store.take_questions(at(1));
	CHECK(store.seen(k_job, Error{Errc::io, "no answer"}, at(2)).waiting.contains({"p"}));
	CHECK(!store.answer_of(k_job));
	store.ask_for({"p"}, k_job, 0);
	CHECK_EQUAL(store.wanted_by({"p"}), "Job j: no answer");
	CHECK(store.has_ungrouped_pods("a") && !store.has_ungrouped_pods("b"));
	CHECK(store.take_questions(at(3)).empty());
	CHECK_EQUAL(store.take_questions(at(4)).size(), 1U);
}

void an_answer_about_another_object_of_that_name_is_too_old()
{
	OwnerStore store;
	store.ask(k_job, 0);
	(void)store.take_questions(at(10));
	(void)store.seen(k_job, job("old"), at(11));
	CHECK(store.answer_for(k_job, "old", at(12).mono_us)); /* true shortly before */
	CHECK(!store.answer_for(k_job, "old", at(13).mono_us));
	CHECK(!store.answer_for(k_job, "new", at(11).mono_us));
	CHECK(!store.answer_for(k_job, "", at(11).mono_us));
	CHECK(store.answer_for(k_job, "new", at(10).mono_us));
}

void an_object_that_does_not_exist_is_an_answer()
{
	OwnerStore store;
	store.ask_for({"p"}, k_job, 0);
	(void)store.take_questions(at(1));
	const auto change = store.seen(k_job, std::optional<Owner>(), at(1));
	CHECK(!change.owner && store.answer_of(k_job) && !*store.answer_of(k_job));
	store.ask(k_job, at(2).mono_us);
	CHECK(store.take_questions(at(2)).empty() && store.take_questions(at(3)).size() == 1);
}

void options_that_change_are_told_once()
{
	OwnerStore store;
	store.ask(k_job, 0);
	(void)store.take_questions(at(1));
	(void)store.seen(k_job, job("u"), at(1));
	CHECK(!store.ask_again(k_job, at(20))); /* too early */
	CHECK(store.ask_again(k_job, at(31)) && !store.ask_again(k_job, at(31)));
	CHECK_EQUAL(store.take_questions(at(31)).size(), 1U);
	CHECK(store.seen(k_job, job("u", {{"k", "v"}}), at(31)).is_other);
	CHECK(store.ask_again(k_job, at(62)));
	(void)store.take_questions(at(62));
	CHECK(!store.seen(k_job, job("u", {{"k", "v"}}), at(62)).is_other);
}

} // namespace

int main()
{
	return check::run_tests("owner store",
		{
			TEST(each_is_asked_for_once),
			TEST(an_error_is_asked_about_again_in_two_seconds),
			TEST(an_answer_about_another_object_of_that_name_is_too_old),
			TEST(an_object_that_does_not_exist_is_an_answer),
			TEST(options_that_change_are_told_once),
		});
}
