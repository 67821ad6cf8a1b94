# Unit tests of core. They are one program, which is the test that its name (argv[0]) says: most of
# the time to compile a test goes into the headers, which are the same for all of them.
core_test_files = \
	%D%/test_backoff.cc \
	%D%/test_call_order.cc \
	%D%/test_cel.cc \
	%D%/test_cel_refusals.cc \
	%D%/test_cel_regex.cc \
	%D%/test_cel_values.cc \
	%D%/test_census.cc \
	%D%/test_claims.cc \
	%D%/test_components.cc \
	%D%/test_device_cores.cc \
	%D%/test_device_deal.cc \
	%D%/test_device_demand.cc \
	%D%/test_device_rank_deal.cc \
	%D%/test_drain_report.cc \
	%D%/test_event_queue.cc \
	%D%/test_extended_resource.cc \
	%D%/test_gang.cc \
	%D%/test_gang_lost_jobs.cc \
	%D%/test_gang_shape.cc \
	%D%/test_gres.cc \
	%D%/test_grouping.cc \
	%D%/test_hybrid_list.cc \
	%D%/test_identity_rules.cc \
	%D%/test_inventory.cc \
	%D%/test_label_features.cc \
	%D%/test_label_names.cc \
	%D%/test_lease.cc \
	%D%/test_native_pods.cc \
	%D%/test_node_sync.cc \
	%D%/test_option_bounds.cc \
	%D%/test_options.cc \
	%D%/test_owner_store.cc \
	%D%/test_placement.cc \
	%D%/test_pod_topology.cc \
	%D%/test_priority_classes.cc \
	%D%/test_quantity.cc \
	%D%/test_rank_layout.cc \
	%D%/test_reconcile.cc \
	%D%/test_round_pace.cc \
	%D%/test_selection.cc \
	%D%/test_slinky_node.cc \
	%D%/test_topology_lines.cc \
	%D%/test_translate.cc \
	%D%/test_why.cc \
	%D%/test_work_queue.cc \
	%D%/test_world.cc \
	%D%/test_world_asked_ends.cc \
	%D%/test_world_binding.cc \
	%D%/test_world_claims.cc \
	%D%/test_world_component_ends.cc \
	%D%/test_world_component_lives.cc \
	%D%/test_world_components.cc \
	%D%/test_world_cores.cc \
	%D%/test_world_devices.cc \
	%D%/test_world_evictions.cc \
	%D%/test_world_extended_resources.cc \
	%D%/test_world_failed_bindings.cc \
	%D%/test_world_forgotten_jobs.cc \
	%D%/test_world_gang_attempts.cc \
	%D%/test_world_gang_devices.cc \
	%D%/test_world_gang_sizes.cc \
	%D%/test_world_gangs.cc \
	%D%/test_world_hold.cc \
	%D%/test_world_hybrid.cc \
	%D%/test_world_hybrid_devices.cc \
	%D%/test_world_hybrid_gangs.cc \
	%D%/test_world_jobs.cc \
	%D%/test_world_late_ends.cc \
	%D%/test_world_native_pods.cc \
	%D%/test_world_native_questions.cc \
	%D%/test_world_nearby_pods.cc \
	%D%/test_world_nodes.cc \
	%D%/test_world_options.cc \
	%D%/test_world_owners.cc \
	%D%/test_world_place_changes.cc \
	%D%/test_world_placement.cc \
	%D%/test_world_pod_groups.cc \
	%D%/test_world_prolog.cc \
	%D%/test_world_resource_claims.cc \
	%D%/test_world_restarts.cc \
	%D%/test_world_roles.cc \
	%D%/test_world_room.cc \
	%D%/test_world_scale.cc \
	%D%/test_world_settings.cc \
	%D%/test_world_shared_claims.cc \
	%D%/test_world_sight.cc \
	%D%/test_world_slow_bindings.cc \
	%D%/test_world_taints.cc \
	%D%/test_world_takeover.cc
core_test_programs = $(core_test_files:.cc=)
TESTS += $(core_test_programs)
check_SCRIPTS += $(core_test_programs)
check_PROGRAMS += testsuite/unit/core_tests
core_test_groups = \
	%D%/groups/core_1_of_4.cc \
	%D%/groups/core_2_of_4.cc \
	%D%/groups/core_3_of_4.cc \
	%D%/groups/core_4_of_4.cc
nodist_testsuite_unit_core_tests_SOURCES = $(core_test_groups)
testsuite_unit_core_tests_SOURCES = \
	%D%/cel_device.h \
	%D%/device_cpus.h \
	%D%/device_facts.h \
	%D%/device_gang.h \
	%D%/end_stage.h \
	%D%/gang_stage.h \
	%D%/grouped.cc \
	%D%/grouped.h \
	%D%/native_stage.h \
	%D%/place_stage.h \
	%D%/unlike_stage.h \
	%D%/world_facts.h \
	%D%/world_stage.h
testsuite_unit_core_tests_LDADD = libcheck.la libcore.la libbase.la
EXTRA_DIST += $(core_test_files) %D%/group
CLEANFILES += $(core_test_groups) $(core_test_programs)
$(core_test_groups): testsuite/unit/core.mk testsuite/unit/group $(core_test_files)
	$(AM_V_GEN)$(srcdir)/testsuite/unit/group $@ $(srcdir) $(core_test_files)
$(core_test_programs): testsuite/unit/core_tests
	$(AM_V_GEN)ln -sf core_tests $@

# the tables of options in the documentation
check_PROGRAMS += testsuite/unit/options_doc
TESTS += testsuite/unit/options_doc
testsuite_unit_options_doc_SOURCES = %D%/options_doc.cc
testsuite_unit_options_doc_LDADD = libcore.la libbase.la
