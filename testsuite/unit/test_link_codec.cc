/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "src/codec/json.h"
#include "src/codec/link.h"
#include "testsuite/unit/check.h"

using namespace slurmkube;
using namespace slurmkube::codec;

namespace
{

core::SlurmJob example_job()
{
	core::SlurmJob job;
	job.id = {4711};
	job.marker = {.cluster = "main",
		.name_space = "ns",
		.name = "pod-1",
		.kind = "Pod",
		.uid = "u-1",
		.attempt = 3,
		.user_id = 1000,
		.group_id = 100};
	job.state = core::JobState::running;
	job.completing = true;
	job.configuring = true;
	job.is_external = true;
	job.held = true;
	job.reason = "Resources";
	job.user_id = 1000;
	job.partition = "kube";
	job.submit_time = 1700000000;
	job.start_time = 1700000001;
	job.end_time = 1700000002;
	job.time_limit_minutes = 60;
	job.exit_status = 768;
	job.account = "phys";
	job.ended_by = 0;
	job.priority = 4294901759U;
	job.nodes = {{"n1", 2, "0-1", 1024, {{"gpu", "a100", 2, "0,3"}, {"shard", "", 1, ""}}},
		{"n2", 1, "4", 512, {}}};
	return job;
}

core::SlurmNode example_node()
{
	core::SlurmNode node;
	node.name = "n1";
	node.base = core::NodeBase::mixed;
	node.drain = node.failing = node.not_responding = node.completing = node.dynamic = true;
	node.reason = "slurm-kube: \"cordoned\"\n";
	node.features = "kube,gpu";
	node.address = "127.0.0.1";
	node.cpus = 64;
	node.memory_mib = 1U << 20U;
	node.gres = "gpu:a100:2";
	node.is_hybrid = true;
	node.extra = "rack 7 slurm-kube:gpu@d=gpu-0";
	return node;
}

core::PluginHello example_hello()
{
	core::PluginHello hello;
	hello.protocol = 1;
	hello.plugin_version = "0.1.0";
	hello.slurm_version = "22.05.8";
	hello.slurm_version_number = 0x160508;
	hello.cluster_name = "lab";
	hello.family = core::Family::native;
	hello.sink_port = 6899;
	hello.node_feature = "kube";
	hello.kube_cluster = "alpha";
	hello.cluster_feature = "kube-alpha";
	hello.config_error = "line 3: no such key";
	hello.host = "ctl-2";
	hello.whole_sockets = true;
	hello.partitions = "kube,gpu";
	hello.has_prolog = true;
	hello.pid = 77;
	hello.process_start = 123456789;
	hello.control_since_us = 1'700'000'000'000'001;
	return hello;
}

core::PluginStats example_stats()
{
	core::PluginStats stats;
	stats.hook = {10, 1.5, 3.25, 9};
	stats.lock_hold = {20, 2.5, 4.25, 10};
	stats.lock_wait = {30, 3.5, 5.25, 11};
	stats.hook_cpu = {40, 4.5, 6.25, 12};
	stats.lock_cpu = {50, 5.5, 7.25, 13};
	stats.duty_percent = 0.125;
	stats.placeholders = 1;
	stats.external_nodes = 2;
	stats.refused = 3;
	stats.duplicates_refused = 4;
	stats.sink_contacts = 5;
	stats.sink_refused = 8;
	stats.reconnects = 6;
	stats.queue_drops = 7;
	stats.unmarked = "8,9";
	return stats;
}

void every_message_comes_back_as_it_was()
{
	const LinkMessage messages[] = {example_hello(), SnapshotBegin{}, example_job(),
		JobGone{{9}}, example_node(), NodeGone{"n"}, SnapshotEnd{}, example_stats(),
		Alive{1'234'567'890'123}, Refused{"why not"}, UnknownMessage{"new"}};
	std::uint64_t seq = 0;
	for (const LinkMessage &message : messages) {
		std::string line = encode_link(++seq, message);
		CHECK(line.find('\n') == std::string::npos);
		auto back = decode_link(line);
		REQUIRE(back.ok());
		CHECK_EQUAL(back->seq, seq);
		CHECK(back->message == message);
	}
}

/* Exact to the last digit, in as few digits as that takes, because people read these lines, too. */
void numbers_come_back_exactly()
{
	for (double number : {0.022, 1.0 / 3, 2.0, 1e300, 5e-324, 0.1234567890123456}) {
		core::PluginStats stats;
		stats.duty_percent = number;
		auto back = decode_link(encode_link(1, stats));
		REQUIRE(back.ok());
		CHECK(std::get<core::PluginStats>(back->message).duty_percent == number);
	}
	core::PluginStats stats;
	stats.duty_percent = 0.022;
	CHECK(encode_link(1, stats).find("\"duty_percent\":0.022,") != std::string::npos);
}

void every_state_has_a_name_that_comes_back()
{
	for (int i = 0; i <= static_cast<int>(core::JobState::unknown); i++) {
		auto state = static_cast<core::JobState>(i);
		CHECK(job_state_from_name(to_name(state)) == state);
	}
	for (int i = 0; i <= static_cast<int>(core::NodeBase::future); i++) {
		auto base = static_cast<core::NodeBase>(i);
		CHECK(node_base_from_name(to_name(base)) == base);
	}
	CHECK(job_state_from_name("revoked") == core::JobState::unknown);
}

void absent_keys_keep_the_default()
{
	auto hello = decode_link(R"({"seq":1,"type":"hello","protocol":1,"future_key":[1]})");
	REQUIRE(hello.ok());
	CHECK(std::get<core::PluginHello>(hello->message).family == core::Family::emulated);
	CHECK(decode_link(R"({"seq":1,"type":"stats"})").ok());
}

void what_names_the_thing_is_required()
{
	for (const char *line : {R"({"type":"hello","protocol":1})", R"({"seq":1})",
		     R"({"seq":1,"type":"hello"})", R"({"seq":1,"type":"job_gone"})",
		     R"({"seq":1,"type":"node_gone"})", R"({"seq":1,"type":"node","base":"idle"})",
		     R"({"seq":1,"type":"job","id":1,"state":"pending"})",
		     R"({"seq":1,"type":"job","id":1,"state":"pending","marker":{}})"})
		CHECK(!decode_link(line).ok());
}

void wrong_types_and_ranges_name_their_key()
{
	auto wrong = decode_link(R"({"seq":1,"type":"job_gone","id":"7"})");
	REQUIRE(!wrong.ok());
	CHECK_EQUAL(wrong.error().what, "link: job_gone: key 'id' is not an integer");
	CHECK(!decode_link(R"({"seq":1,"type":"job_gone","id":4294967296})").ok());
	CHECK(!decode_link(R"({"seq":1,"type":"job_gone","id":-1})").ok());
	CHECK(!decode_link(R"({"seq":-1,"type":"job_gone","id":1})").ok());
	CHECK(!decode_link(R"({"seq":1,"type":"node","name":"n","base":"idle","drain":1})").ok());
	CHECK(!decode_link(R"({"seq":1,"type":"stats","hook":{"count":"x"}})").ok());
	CHECK(!decode_link(R"({"seq":1,"type":"stats","hook":7})").ok());
	for (const char *cut :
		{"18446744073709551615", "99999999999999999999", "9223372036854775808"})
		CHECK(!decode_link(R"({"seq":1,"type":"stats","refused":)" + std::string(cut) + "}")
				.ok());
	CHECK(!decode_link(R"({"seq":1,"type":"job","end_time":-99999999999999999999})").ok());
	CHECK(!decode_link(R"({"seq":1,"type":"stats","duty_percent":1e999})").ok());
}

void a_cut_line_never_decodes()
{
	std::string line = encode_link(5, example_job());
	for (std::size_t length = 0; length < line.size(); length++)
		CHECK(!decode_link(std::string_view(line).substr(0, length)).ok());
}

void a_wrong_type_anywhere_fails_the_job()
{
	auto parsed = parse_json(encode_link(5, example_job()), k_link_line_max);
	REQUIRE(parsed.ok());
	json_object_object_foreach(parsed->get(), key, value)
	{
		(void)value;
		if (std::string_view(key) == "nodes")
			continue;
		auto broken = parse_json(to_text(parsed->get()), k_link_line_max);
		REQUIRE(broken.ok());
		put(broken->get(), key, new_array());
		CHECK(!decode_link(to_text(broken->get())).ok());
	}
}

/* As a gang may have. A line that the agent refuses would cut the link for all. */
void a_job_of_20000_nodes_fits_into_a_line()
{
	core::SlurmJob job = example_job();
	core::NodeAllocation place{.node = "",
		.cpus = 128,
		.core_ids = "0-3,8,10,12-14,16,20,22-25,30,32,34,36,38,40-47,50-52,60,62",
		.memory_mib = 1'000'000,
		.gres = {}};
	for (const char *gres : {"gpu", "nic", "shard"})
		place.gres.push_back(
			{.name = gres, .type = "a100", .count = 4, .indices = "0,2,4,6"});
	job.nodes.assign(20'000, place);
	for (std::size_t i = 0; i < job.nodes.size(); i++)
		job.nodes[i].node = "node-" + std::to_string(i) + ".example.org";
	const std::string line = encode_link(5, job);
	CHECK(line.size() > 4'000'000);
	const auto read = decode_link(line);
	REQUIRE(read.ok());
	CHECK(read->message == LinkMessage(job));
}

void an_endless_line_is_too_large()
{
	auto line = decode_link(std::string(k_link_line_max + 1, ' '));
	REQUIRE(!line.ok());
	CHECK(line.error().code == Errc::too_large);
}

void welcome_comes_back_and_nothing_else_is_one()
{
	Welcome welcome{1, "0.1.0"};
	auto back = decode_welcome(encode_welcome(welcome));
	REQUIRE(back.ok());
	CHECK(*back == welcome);
	CHECK(!decode_welcome(R"({"type":"welcome","protocol":1})")->knows_hybrids);
	welcome.cluster_uid = "5b1c";
	welcome.knows_hybrids = true;
	back = decode_welcome(encode_welcome(welcome));
	CHECK(back && *back == welcome);
	CHECK(!decode_welcome(R"({"type":"hello","protocol":1})").ok());
	CHECK(!decode_welcome(R"({"type":"welcome"})").ok());
	CHECK(!decode_welcome("welcome").ok());
}

} // namespace

int main()
{
	return check::run_tests("link codec",
		{
			TEST(every_message_comes_back_as_it_was),
			TEST(numbers_come_back_exactly),
			TEST(every_state_has_a_name_that_comes_back),
			TEST(absent_keys_keep_the_default),
			TEST(what_names_the_thing_is_required),
			TEST(wrong_types_and_ranges_name_their_key),
			TEST(a_cut_line_never_decodes),
			TEST(a_wrong_type_anywhere_fails_the_job),
			TEST(a_job_of_20000_nodes_fits_into_a_line),
			TEST(an_endless_line_is_too_large),
			TEST(welcome_comes_back_and_nothing_else_is_one),
		});
}
