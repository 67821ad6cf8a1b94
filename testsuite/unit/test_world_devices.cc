/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices of a node and the record of the node in Slurm: its GRES, and the list of devices in its
 * extra. */
#include "src/core/inspect/device_rows.h"
#include "src/core/model/index_list.h"
#include "testsuite/unit/world_stage.h"

#include <utility>

using namespace slurmkube;
using namespace slurmkube::check;
using namespace slurmkube::core;

namespace
{

constexpr char k_driver[] = "gpu.example.com";

DeviceRule rule(const std::string &gres = "gpu", const std::string &driver = k_driver)
{
	DeviceRule out;
	out.driver = driver;
	out.gres = gres;
	return out;
}

Settings with_rules(DeviceRules rules)
{
	Settings settings = plain_settings();
	settings.devices = std::move(rules);
	return settings;
}

ResourceSlice slice(
	std::vector<std::string> devices, std::int64_t generation = 1, std::int64_t count = 1)
{
	ResourceSlice out;
	out.name = "slice-" + std::to_string(generation);
	out.uid = "uid-" + out.name;
	out.pool = {k_driver, "n1"};
	out.generation = generation;
	out.slice_count = count;
	out.node = "n1";
	for (const std::string &name : devices) {
		SliceDevice &device = out.devices.emplace_back();
		device.name = name;
		device.properties.driver = k_driver;
	}
	return out;
}

/* A node n1, and a Slurm that carries out each request. */
struct Site {
	World world;
	Now now = k_start;
	bool is_dynamic;
	bool says_extra = true; /* the plugin is not older than the agent */
	std::optional<SlurmNode> record;
	bool refuses_extra = false;

	explicit Site(bool dynamic, DeviceRules rules = {rule()}, const std::string &gres = "",
		const std::string &extra = "")
	    : world(with_rules(std::move(rules))), is_dynamic(dynamic)
	{
		record = slurm_node("n1", 4);
		record->dynamic = dynamic;
		record->memory_mib = 1024;
		record->gres = gres;
		record->extra = extra;
	}

	static KubeNode node()
	{
		KubeNode out = check::kube_node("n1", "uid-n1", 4000);
		out.allocatable.memory_bytes = std::int64_t{1} << 30;
		return out;
	}

	void start()
	{
		world.observe(NodeSeen{node()}, now);
		world.observe(NodesListed{{"uid-n1"}});
		world.observe(PodsListed{{}}, now);
		PluginHello hello;
		hello.slurm_version_number = is_dynamic ? (24U << 16) | (11U << 8) : 22U << 16;
		world.observe(LinkOpened{hello});
		if (record)
			tell();
		world.observe(SnapshotEnded{}, now);
	}

	void tell()
	{
		SlurmNode told = *record;
		if (!says_extra)
			told.extra.reset();
		world.observe(SlurmNodeSeen{told});
	}

	void list(std::vector<ResourceSlice> slices = {})
	{
		std::set<std::string> live;
		for (ResourceSlice &one : slices) {
			live.insert(one.uid);
			world.observe(SliceSeen{std::move(one)}, now);
		}
		world.observe(SlicesListed{live}, now);
	}

	std::string carry_out(const NodeAction &action)
	{
		if (const auto *made = std::get_if<CreateNode>(&action)) {
			record = slurm_node("n1", 4);
			record->dynamic = true;
			record->memory_mib = made->spec.memory_mib;
			record->gres = made->spec.gres;
			record->extra = "";
			world.answer(NodeChangeAnswered{"n1", Ok{}}, now);
			tell();
			return "create " + made->spec.gres;
		}
		if (std::holds_alternative<DeleteNode>(action)) {
			record.reset();
			world.answer(NodeChangeAnswered{"n1", Ok{}}, now);
			world.observe(SlurmNodeGone{"n1"});
			return "delete";
		}
		const auto *extra = std::get_if<SetNodeExtra>(&action);
		if (!extra)
			return "other";
		if (refuses_extra) {
			world.answer(
				NodeChangeAnswered{"n1", Error{Errc::invalid, "no JSON"}}, now);
			return "refused";
		}
		record->extra = extra->extra;
		world.answer(NodeChangeAnswered{"n1", Ok{}}, now);
		tell();
		return "extra " + extra->extra;
	}

	/* So many passes, a second apart; returns what is done. */
	std::string rounds(int passes = 10)
	{
		std::string out;
		for (int i = 0; i < passes; i++) {
			for (const NodeAction &action : world.take_node_actions(now))
				out += (out.empty() ? "" : ", ") + carry_out(action);
			now.mono_us += k_second;
		}
		return out;
	}

	void run_job(JobState state = JobState::running)
	{
		SlurmJob job = Stage::job(7, "u", state);
		for (NodeAllocation &place : job.nodes)
			place.gres = {{"gpu", "", 1, "0"}};
		world.observe(JobSeen{job}, now);
		record->base = state == JobState::running ? NodeBase::mixed : NodeBase::idle;
		tell();
	}
};

constexpr char k_both[] = "slurm-kube:gpu@gpu.example.com=gpu-0,gpu-1";

void a_record_is_made_with_its_devices()
{
	Site s(true);
	s.record.reset();
	s.start();
	CHECK_EQUAL(s.rounds(), ""); /* the slices are not listed yet */
	s.list({slice({"gpu-1", "gpu-0"})});
	CHECK_EQUAL(s.rounds(), std::string("create gpu:2, extra ") + k_both);
}

void an_incomplete_pool_is_waited_for()
{
	Site s(true);
	s.record.reset();
	s.start();
	s.list({slice({"gpu-0"}, 1, 2)});
	CHECK_EQUAL(s.rounds(), "");
	ResourceSlice other = slice({"gpu-1"}, 1, 2);
	other.name = "other";
	s.world.observe(SliceSeen{other}, s.now);
	CHECK_EQUAL(s.rounds(), std::string("create gpu:2, extra ") + k_both);
	/* nor does it change a record that is there */
	s.world.observe(SliceSeen{slice({"gpu-5"}, 2, 2)}, s.now);
	CHECK_EQUAL(s.rounds(), "");
	/* also if the node has another size now: without a record its GRES would be forgotten */
	KubeNode larger = Site::node();
	larger.allocatable.milli_cpu = 8000;
	s.world.observe(NodeSeen{larger}, s.now);
	CHECK_EQUAL(s.rounds(), "");
	s.world.observe(SliceSeen{slice({"gpu-0", "gpu-1"}, 3)}, s.now);
	CHECK_EQUAL(s.rounds(), std::string("delete, create gpu:2, extra ") + k_both);
}

void a_node_without_devices_is_as_ever()
{
	Site s(true);
	s.start();
	s.list();
	CHECK_EQUAL(s.rounds(), "");
	Site without(true, {}, "gpu:2", "slurm-kube:gpu@x=y");
	without.record->gres = "";
	without.start();
	CHECK_EQUAL(without.rounds(), "");
}

void an_idle_node_is_made_again_with_its_devices()
{
	Site s(true);
	s.start();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(), std::string("delete, create gpu:2, extra ") + k_both);
}

void a_list_stays_while_a_job_runs()
{
	Site s(true, {rule()}, "gpu:2", std::string("rack 7 ") + k_both);
	s.start();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(), "");
	s.run_job();
	s.world.observe(SliceSeen{slice({"gpu-1", "gpu-2"}, 2)}, s.now);
	CHECK_EQUAL(s.rounds(), "");
	s.run_job(JobState::complete);
	CHECK_EQUAL(s.rounds(), "extra rack 7 slurm-kube:gpu@gpu.example.com=gpu-1,gpu-2");
}

/* Else indices that jobs have would mean nothing. */
void the_first_list_is_written_at_once()
{
	Site s(false, {rule()}, "gpu:2(S:0)", "rack 7");
	s.start();
	s.run_job();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(), std::string("extra rack 7 ") + k_both);
}

void a_list_waits_for_a_record_of_that_size()
{
	Site s(false, {rule()}, "gpu:4");
	s.start();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(), "");
	s.record->gres = "gpu:2";
	s.tell();
	CHECK_EQUAL(s.rounds(), std::string("extra ") + k_both);
}

void devices_that_vanish_change_nothing_for_a_while()
{
	for (const bool is_dynamic : {false, true}) {
		Site s(is_dynamic, {rule()}, "gpu:2", k_both);
		s.start();
		s.list({slice({"gpu-0", "gpu-1"})});
		s.run_job();
		s.world.observe(SliceGone{"slice-1"}, s.now);
		s.run_job(JobState::complete);
		CHECK_EQUAL(s.rounds(590), "");
		CHECK(s.record->gres == "gpu:2");
		s.world.observe(SliceSeen{slice({"gpu-0", "gpu-1"})}, s.now);
		CHECK_EQUAL(s.rounds(20), "");
		s.world.observe(SliceGone{"slice-1"}, s.now);
		CHECK_EQUAL(s.rounds(700), is_dynamic ? "delete, create " : "");
	}
}

void an_agent_that_starts_without_slices_waits_too()
{
	Site s(true, {rule()}, "gpu:2", k_both);
	s.start();
	CHECK_EQUAL(s.rounds(), "");
	s.list();
	CHECK_EQUAL(s.rounds(590), "");
	CHECK_EQUAL(s.rounds(20), "delete, create ");
}

void a_refused_list_is_written_again_after_a_minute()
{
	Site s(false, {rule()}, "gpu:2");
	s.refuses_extra = true;
	s.start();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(59), "refused");
	CHECK_EQUAL(s.rounds(60), "refused");
	s.refuses_extra = false;
	CHECK_EQUAL(s.rounds(60), std::string("extra ") + k_both);
}

/* A text that comes back as another one is not written again and again. */
void a_list_that_another_program_removes_is_written_once_a_minute()
{
	Site s(false, {rule()}, "gpu:2");
	s.start();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(1), std::string("extra ") + k_both);
	s.record->extra = "";
	s.tell();
	CHECK_EQUAL(s.rounds(50), "");
	CHECK_EQUAL(s.rounds(20), std::string("extra ") + k_both);
}

void an_older_plugin_does_not_say_it()
{
	Site s(false, {rule()}, "gpu:2");
	s.says_extra = false;
	s.start();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(200), "");
}

void extended_resources_stay_beside_devices()
{
	NodeDevices devices;
	devices.has_rules = true;
	devices.gres = "gpu:a100:2";
	devices.names = {"gpu"};
	NodePolicy policy = plain_settings().nodes;
	policy.gres.push_back(
		{.resource = "example.com/fpga", .name = "fpga", .type = "", .type_label = ""});
	KubeNode node = Site::node();
	node.allocatable.extended = {{"nvidia.com/gpu", 4}, {"example.com/fpga", 1}};
	CHECK_EQUAL(node_spec(node, policy, {}, devices).gres, "fpga:1,gpu:a100:2");
	CHECK_EQUAL(node_spec(node, policy, {}).gres, "fpga:1,gpu:4");
	node.allocatable.extended = {{"nvidia.com/gpu", 4}};
	CHECK_EQUAL(node_spec(node, policy, {}, devices).gres, "gpu:a100:2");
	devices = {};
	devices.trouble = "incomplete";
	devices.gres = "gpu:3";
	devices.is_whole_gres = true;
	CHECK_EQUAL(node_spec(node, policy, {}, devices).gres, "gpu:3");
}

void classes_are_known_by_name()
{
	Site s(false);
	s.start();
	DeviceClass gpu;
	gpu.name = "gpu";
	gpu.uid = "u";
	s.world.observe(DeviceClassSeen{gpu}, s.now);
	CHECK(!s.world.state().devices.are_classes_listed());
	s.world.observe(DeviceClassesListed{{"u"}}, s.now);
	REQUIRE(s.world.state().devices.find_class("gpu") != nullptr);
	CHECK(s.world.state().devices.are_classes_listed());
	s.world.observe(DeviceClassesListed{{}}, s.now);
	CHECK(s.world.state().devices.find_class("gpu") == nullptr);
	s.world.observe(DeviceClassSeen{gpu}, s.now);
	s.world.observe(DeviceClassGone{"gpu"}, s.now);
	CHECK(s.world.state().devices.find_class("gpu") == nullptr);
}

void rules_that_change_are_followed()
{
	Site s(true, {rule()}, "gpu:2", k_both);
	s.start();
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(s.rounds(), "");
	Settings settings = with_rules({rule("accel")});
	s.world.observe(SettingsSet{settings}, s.now);
	CHECK_EQUAL(s.rounds(),
		"delete, create accel:2, extra slurm-kube:accel@gpu.example.com=gpu-0,gpu-1");
}

/* "0 gpu-0 job 7, ..." and the troubles */
std::string shown(const Site &s)
{
	std::string out;
	const DeviceReport report = report_devices(s.world.state(), s.now.mono_us);
	for (const DeviceRow &row : report.rows)
		out += (out.empty() ? "" : ", ") +
			(row.index ? std::to_string(*row.index) : std::string("-")) + " " +
			row.device.name + (row.is_published ? "" : " missing") +
			(row.job ? " job " + std::to_string(row.job->id.number) : "");
	for (const DeviceTrouble &one : report.troubles)
		out += "; " + one.node + " " + one.gres + ": " + one.why.substr(0, 30);
	return out;
}

void devices_are_shown_by_index()
{
	Site s(false, {rule()}, "gpu:2", k_both);
	s.start();
	CHECK_EQUAL(shown(s),
		"0 gpu-0 missing, 1 gpu-1 missing; n1 gpu: the devices have not been list");
	s.list({slice({"gpu-0", "gpu-1"})});
	CHECK_EQUAL(shown(s), "0 gpu-0, 1 gpu-1");
	s.run_job();
	CHECK_EQUAL(shown(s), "0 gpu-0 job 7, 1 gpu-1");
	s.world.observe(SliceSeen{slice({"gpu-1", "gpu-2"}, 2)}, s.now);
	CHECK_EQUAL(shown(s), "0 gpu-0 missing job 7, 1 gpu-1, - gpu-2");
	s.world.observe(SliceGone{"slice-2"}, s.now);
	s.world.observe(SliceGone{"slice-1"}, s.now);
	CHECK_EQUAL(shown(s),
		"0 gpu-0 missing job 7, 1 gpu-1 missing; n1 gpu: driver gpu.example.com publish");
	Site without(false, {}, "gpu:2", k_both);
	without.start();
	CHECK_EQUAL(shown(without), "");
}

void indices_are_read()
{
	using List = std::vector<std::uint32_t>;
	CHECK(indices_of("") == List());
	CHECK(indices_of("3") == List{3});
	CHECK(indices_of("0-2,5,7-8") == (List{0, 1, 2, 5, 7, 8}));
	CHECK(indices_of("1022-1023") == (List{1022, 1023}));
	for (const char *wrong : {"a", "1-", "-1", "2-1", "1,1", "3,2", ",", "0,,1", "1024",
		     "0-5000000", " 1", "1 "})
		CHECK(!indices_of(wrong));
}

} // namespace

int main()
{
	return run_tests("world_devices",
		{TEST(a_record_is_made_with_its_devices), TEST(an_incomplete_pool_is_waited_for),
			TEST(a_node_without_devices_is_as_ever),
			TEST(an_idle_node_is_made_again_with_its_devices),
			TEST(a_list_stays_while_a_job_runs),
			TEST(the_first_list_is_written_at_once),
			TEST(a_list_waits_for_a_record_of_that_size),
			TEST(devices_that_vanish_change_nothing_for_a_while),
			TEST(an_agent_that_starts_without_slices_waits_too),
			TEST(a_refused_list_is_written_again_after_a_minute),
			TEST(a_list_that_another_program_removes_is_written_once_a_minute),
			TEST(an_older_plugin_does_not_say_it),
			TEST(extended_resources_stay_beside_devices),
			TEST(classes_are_known_by_name), TEST(rules_that_change_are_followed),
			TEST(devices_are_shown_by_index), TEST(indices_are_read)});
}
