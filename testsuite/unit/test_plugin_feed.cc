/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/plugins/job_submit/kube/feed.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::plugin;
using codec::LinkMessage;

namespace
{

core::SlurmJob job(std::uint32_t id, core::JobState state = core::JobState::pending)
{
	core::SlurmJob job;
	job.id = {id};
	job.state = state;
	return job;
}

/* The snapshot; empty: there is none. */
std::vector<LinkMessage> lines_of(FeedReader &reader, const char *cluster_uid = "")
{
	auto snapshot = reader.open(cluster_uid);
	return snapshot ? std::move(*snapshot) : std::vector<LinkMessage>();
}

core::SlurmNode node(const char *name)
{
	core::SlurmNode node;
	node.name = name;
	return node;
}

void a_snapshot_has_everything_between_its_ends()
{
	Feed feed;
	FeedReader reader(feed, {});
	feed.node(node("n"));
	feed.job(job(1));
	feed.job(job(2));
	feed.job(job(1, core::JobState::running));
	feed.job_gone({2});
	CHECK(!feed.is_complete());
	feed.complete();
	CHECK(feed.is_complete());
	auto snapshot = lines_of(reader);
	REQUIRE(snapshot.size() == 4);
	CHECK(snapshot[0] == LinkMessage(codec::SnapshotBegin{}));
	CHECK(snapshot[1] == LinkMessage(node("n")));
	CHECK(snapshot[2] == LinkMessage(job(1, core::JobState::running)));
	CHECK(snapshot[3] == LinkMessage(codec::SnapshotEnd{}));
}

/* This connection was not told what disappeared in the meantime, however short the interruption. */
void a_reset_ends_the_connection()
{
	Feed feed;
	FeedReader reader(feed, {});
	feed.job(job(1));
	feed.complete();
	(void)lines_of(reader);
	feed.reset();
	feed.job(job(2));
	feed.complete();
	std::vector<LinkMessage> out;
	CHECK(!reader.take(out));
	CHECK(!reader.is_dropped());
	CHECK(lines_of(reader).size() == 3);
	/* an empty snapshot would mean that all jobs are gone, so none is given */
	feed.reset();
	CHECK(lines_of(reader).empty());
	CHECK(!reader.take(out));
	feed.complete();
	CHECK(!reader.take(out));
	CHECK(lines_of(reader).size() == 2);
	CHECK(reader.take(out));
}

void changes_are_queued_while_open_only()
{
	Feed feed;
	FeedReader reader(feed, {});
	feed.complete();
	std::vector<LinkMessage> out;
	feed.job(job(1));
	(void)lines_of(reader);
	CHECK(reader.take(out));
	CHECK(out.empty());
	feed.job(job(2));
	feed.job_gone({1});
	feed.job_gone({99}); /* never reported, so there is nothing to withdraw */
	feed.node_gone("unknown");
	CHECK(reader.take(out));
	REQUIRE(out.size() == 2);
	CHECK(out[0] == LinkMessage(job(2)));
	CHECK(out[1] == LinkMessage(codec::JobGone{{1}}));
	reader.close();
	feed.job(job(3));
	(void)lines_of(reader);
	CHECK(reader.take(out) && out.empty());
}

void too_many_lines_drop_the_queue()
{
	Feed feed;
	FeedReader reader(feed, {});
	feed.complete();
	for (std::uint32_t i = 0; i <= k_queue_lines_max; i++)
		feed.job(job(i));
	(void)lines_of(reader);
	std::vector<LinkMessage> out;
	for (std::uint32_t i = 0; i < k_queue_lines_max; i++)
		feed.job_gone({i});
	CHECK(!reader.is_dropped());
	feed.job_gone({k_queue_lines_max});
	CHECK(reader.is_dropped());
	CHECK(!reader.take(out));
	reader.close();
	CHECK_EQUAL(lines_of(reader).size(), 2U);
	CHECK(reader.take(out));
}

void too_many_bytes_drop_the_queue()
{
	Feed feed;
	FeedReader reader(feed, {});
	feed.complete();
	(void)lines_of(reader);
	core::SlurmJob large = job(1);
	large.reason.assign(k_queue_bytes_max / 4, 'x');
	for (int i = 0; i < 3; i++)
		feed.job(large);
	CHECK(!reader.is_dropped());
	feed.job(large);
	CHECK(reader.is_dropped());
}

void losing_control_ends_the_connection()
{
	Feed feed;
	FeedReader reader(feed, {});
	feed.job(job(1));
	feed.complete();
	(void)lines_of(reader);
	feed.reset();
	std::vector<LinkMessage> out;
	CHECK(!reader.take(out));
	CHECK(!reader.is_dropped());
	CHECK(!feed.is_complete());
}

core::SlurmJob job_of(const char *cluster, std::uint32_t id)
{
	core::SlurmJob of = job(id);
	of.marker.cluster = cluster;
	return of;
}

core::SlurmNode node_with(const char *name, const char *features)
{
	core::SlurmNode with = node(name);
	with.features = features;
	return with;
}

const FeedShare k_alpha{"alpha", "kube-alpha", {"beta"}, {"kube-beta"}},
	k_beta{"beta", "kube-beta", {"alpha"}, {"kube-alpha"}};

void each_cluster_hears_of_its_own()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta), all(feed, {});
	feed.job(job_of("alpha", 1));
	feed.node(node_with("a", "kube,kube-alpha"));
	feed.node(node_with("b", "kube-beta,kube"));
	feed.node(node_with("x", "kube,kube-alpha2"));
	feed.complete();
	CHECK_EQUAL(lines_of(all).size(), 6U);
	const auto first = lines_of(alpha);
	REQUIRE(first.size() == 4);
	CHECK(first[1] == LinkMessage(node_with("a", "kube,kube-alpha")));
	CHECK(first[2] == LinkMessage(job_of("alpha", 1)));
	CHECK_EQUAL(lines_of(beta).size(), 3U);

	feed.job(job_of("beta", 2));
	feed.job_gone({1});
	feed.node_gone("b");
	std::vector<LinkMessage> out;
	REQUIRE(alpha.take(out) && out.size() == 1);
	CHECK(out[0] == LinkMessage(codec::JobGone{{1}}));
	REQUIRE(beta.take(out) && out.size() == 2);
	CHECK(out[0] == LinkMessage(job_of("beta", 2)));
	CHECK(out[1] == LinkMessage(codec::NodeGone{"b"}));
	CHECK(all.take(out) && out.size() == 3);
}

/* It would take hybrid nodes for external ones and drain them. */
void an_agent_that_does_not_know_hybrid_nodes_gets_none()
{
	Feed feed;
	FeedReader reader(feed, {});
	core::SlurmNode hybrid = node("h");
	hybrid.is_hybrid = true;
	feed.node(hybrid);
	feed.node(node("n"));
	feed.complete();
	const auto old = reader.open("", false);
	REQUIRE(old && old->size() == 3);
	CHECK((*old)[1] == LinkMessage(node("n")));
	hybrid.reason = "new";
	feed.node(hybrid);
	std::vector<LinkMessage> out;
	CHECK(reader.take(out) && out.empty());
	hybrid.is_hybrid = false; /* an external node now */
	feed.node(hybrid);
	CHECK(reader.take(out) && out.size() == 1);
	hybrid.is_hybrid = true;
	feed.node(hybrid);
	REQUIRE(reader.take(out) && out.size() == 1);
	CHECK(out[0] == LinkMessage(codec::NodeGone{"h"}));
	reader.close();
	CHECK_EQUAL(reader.open("", true)->size(), 4U);
}

void a_node_that_moves_is_gone_for_its_old_cluster()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.node(node_with("n", "kube,kube-alpha"));
	feed.complete();
	(void)lines_of(alpha);
	(void)lines_of(beta);
	feed.node(node_with("n", "kube,kube-beta"));
	feed.node(node_with("n", "kube,kube-beta"));
	std::vector<LinkMessage> out;
	REQUIRE(alpha.take(out) && out.size() == 1);
	CHECK(out[0] == LinkMessage(codec::NodeGone{"n"}));
	CHECK(beta.take(out) && out.size() == 2);
}

/* Both agents would take it for theirs. */
void a_node_of_two_clusters_is_of_none()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.node(node_with("n", "kube,kube-alpha"));
	feed.complete();
	(void)lines_of(alpha);
	(void)lines_of(beta);
	feed.node(node_with("n", "kube,kube-alpha,kube-beta"));
	std::vector<LinkMessage> out;
	REQUIRE(alpha.take(out) && out.size() == 1);
	CHECK(out[0] == LinkMessage(codec::NodeGone{"n"}));
	CHECK(beta.take(out) && out.empty());
}

/* A cluster that has been renamed: its agent knows its jobs by the uid of the cluster. */
void a_job_of_no_cluster_is_heard_by_all()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.job(job_of("former", 1));
	feed.complete();
	CHECK_EQUAL(lines_of(alpha).size(), 3U);
	CHECK_EQUAL(lines_of(beta).size(), 3U);
	feed.job(job_of("beta", 1)); /* Slurm has used the number again */
	std::vector<LinkMessage> out;
	REQUIRE(alpha.take(out) && out.size() == 1);
	CHECK(out[0] == LinkMessage(codec::JobGone{{1}}));
	REQUIRE(beta.take(out) && out.size() == 2);
	CHECK(out[1] == LinkMessage(job_of("beta", 1)));
}

core::SlurmJob job_in(const char *cluster, const char *cluster_uid, std::uint32_t id,
	core::JobState state = core::JobState::running)
{
	core::SlurmJob in = job(id, state);
	in.marker.cluster = cluster;
	in.marker.cluster_uid = cluster_uid;
	return in;
}

/* Its agent must know that its pods have jobs already. */
void a_cluster_hears_of_its_jobs_under_another_name()
{
	Feed feed;
	FeedReader beta(feed, k_beta);
	feed.job(job_in("alpha", "one", 1));
	feed.job(job_in("beta", "one", 3));
	feed.complete();
	CHECK_EQUAL(lines_of(beta, "two").size(), 3U);
	beta.close();
	CHECK_EQUAL(lines_of(beta, "one").size(), 4U);
	feed.job(job_in("alpha", "two", 1)); /* Slurm has used the number again */
	feed.job(job_in("alpha", "one", 2));
	std::vector<LinkMessage> out;
	REQUIRE(beta.take(out) && out.size() == 2);
	CHECK(out[0] == LinkMessage(codec::JobGone{{1}}));
	CHECK(out[1] == LinkMessage(job_in("alpha", "one", 2)));
}

/* Each would submit a job for each pod. */
void of_two_links_to_one_cluster_the_first_is_served()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.job(job_in("beta", "one", 1, core::JobState::complete));
	feed.complete();
	REQUIRE(alpha.open("one").ok());
	const auto second = beta.open("one");
	REQUIRE(!second.ok());
	CHECK_EQUAL(second.error().what,
		"Cluster=beta and Cluster=alpha are one Kubernetes cluster (uid of namespace "
		"kube-system one), and alpha is served: correct the kubeconfig of one of the two "
		"agents, or stop it");
	CHECK(alpha.refusal().empty());
	CHECK(beta.open("two").ok());
	beta.close();
	alpha.close(); /* its agent is restarted */
	CHECK(!beta.open("one").ok());
	REQUIRE(alpha.open("three").ok());
	CHECK(beta.open("one").ok());
}

/* After a restart of slurmctld, the wrong agent may come first. */
void the_name_in_live_jobs_is_served()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.job(job_in("alpha", "one", 1));
	feed.job(job_in("beta", "two", 2));
	feed.complete();
	const auto wrong = beta.open("one");
	REQUIRE(!wrong.ok());
	CHECK_EQUAL(wrong.error().what,
		"live jobs of this Kubernetes cluster (uid of namespace kube-system one) bear the "
		"name of Cluster=alpha: correct the kubeconfig of the agent of Cluster=beta; or, "
		"if "
		"the cluster has a new name, set cluster: alpha in slurmkubed.yaml until these "
		"jobs "
		"have ended");
	REQUIRE(alpha.open("one").ok());
	CHECK(beta.open("two").ok());
}

/* As if the job had been submitted by hand. */
void the_name_with_live_jobs_takes_over()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.complete();
	REQUIRE(beta.open("one").ok());
	feed.job(job_in("alpha", "one", 1));
	REQUIRE(alpha.open("one").ok());
	std::vector<LinkMessage> out;
	CHECK(!beta.take(out));
	CHECK(!beta.is_dropped());
	CHECK(beta.refusal().starts_with("Cluster=beta and Cluster=alpha are one Kubernetes"));
	beta.close();
	CHECK(!beta.open("one").ok());
	CHECK(alpha.take(out));
}

/* An older agent does not say its cluster. */
void links_without_uid_do_not_compete()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.complete();
	CHECK(alpha.open("").ok());
	CHECK(beta.open("").ok());
}

void a_slow_agent_does_not_stop_another()
{
	Feed feed;
	FeedReader alpha(feed, k_alpha), beta(feed, k_beta);
	feed.complete();
	(void)lines_of(alpha);
	(void)lines_of(beta);
	std::vector<LinkMessage> out;
	for (std::uint32_t i = 0; i <= k_queue_lines_max; i++) {
		feed.job(job_of("alpha", i));
		feed.job(job_of("beta", k_queue_lines_max + 1 + i));
		CHECK(beta.take(out));
	}
	CHECK(alpha.is_dropped());
	CHECK(!beta.is_dropped());
}

void line_sizes_are_about_right()
{
	core::SlurmJob large = job(4711, core::JobState::running);
	large.marker = {"main", "default", "train-0-abcde", "Pod",
		"3b6f1e0c-9d5e-4f3f-8f2b-0a6f6d0f9a11", 1, 1000, 1000};
	large.nodes = {{"node-1", 8, "0-7", 4096, {{"gpu", "a100", 2, "0-1"}}},
		{"node-2", 8, "0-7", 4096, {}}};
	for (const LinkMessage &message :
		{LinkMessage(job(1)), LinkMessage(large), LinkMessage(node("n1"))}) {
		auto real = static_cast<double>(codec::encode_link(1000, message).size());
		auto guess = static_cast<double>(line_size(message));
		CHECK(guess > real * 0.7 && guess < real * 1.4);
	}
}

} // namespace

int main()
{
	return check::run_tests("plugin feed",
		{
			TEST(a_snapshot_has_everything_between_its_ends),
			TEST(a_reset_ends_the_connection),
			TEST(changes_are_queued_while_open_only),
			TEST(too_many_lines_drop_the_queue),
			TEST(too_many_bytes_drop_the_queue),
			TEST(losing_control_ends_the_connection),
			TEST(each_cluster_hears_of_its_own),
			TEST(an_agent_that_does_not_know_hybrid_nodes_gets_none),
			TEST(a_node_that_moves_is_gone_for_its_old_cluster),
			TEST(a_node_of_two_clusters_is_of_none),
			TEST(a_cluster_hears_of_its_jobs_under_another_name),
			TEST(of_two_links_to_one_cluster_the_first_is_served),
			TEST(the_name_in_live_jobs_is_served),
			TEST(the_name_with_live_jobs_takes_over),
			TEST(links_without_uid_do_not_compete),
			TEST(a_job_of_no_cluster_is_heard_by_all),
			TEST(a_slow_agent_does_not_stop_another),
			TEST(line_sizes_are_about_right),
		});
}
