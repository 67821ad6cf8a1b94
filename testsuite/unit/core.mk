# unit tests of core

check_PROGRAMS += testsuite/unit/test_census
TESTS += testsuite/unit/test_census
testsuite_unit_test_census_SOURCES = %D%/test_census.cc
testsuite_unit_test_census_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_reconcile
TESTS += testsuite/unit/test_reconcile
testsuite_unit_test_reconcile_SOURCES = %D%/test_reconcile.cc
testsuite_unit_test_reconcile_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_translate
TESTS += testsuite/unit/test_translate
testsuite_unit_test_translate_SOURCES = %D%/test_translate.cc
testsuite_unit_test_translate_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_event_queue
TESTS += testsuite/unit/test_event_queue
testsuite_unit_test_event_queue_SOURCES = %D%/test_event_queue.cc
testsuite_unit_test_event_queue_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_why
TESTS += testsuite/unit/test_why
testsuite_unit_test_why_SOURCES = %D%/test_why.cc
testsuite_unit_test_why_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_identity_rules
TESTS += testsuite/unit/test_identity_rules
testsuite_unit_test_identity_rules_SOURCES = %D%/test_identity_rules.cc
testsuite_unit_test_identity_rules_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_node_sync
TESTS += testsuite/unit/test_node_sync
testsuite_unit_test_node_sync_SOURCES = %D%/test_node_sync.cc
testsuite_unit_test_node_sync_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_gang
TESTS += testsuite/unit/test_gang
testsuite_unit_test_gang_SOURCES = %D%/gang_stage.h %D%/test_gang.cc
testsuite_unit_test_gang_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_gang_lost_jobs
TESTS += testsuite/unit/test_gang_lost_jobs
testsuite_unit_test_gang_lost_jobs_SOURCES = %D%/gang_stage.h %D%/test_gang_lost_jobs.cc
testsuite_unit_test_gang_lost_jobs_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_gang_shape
TESTS += testsuite/unit/test_gang_shape
testsuite_unit_test_gang_shape_SOURCES = %D%/gang_stage.h %D%/test_gang_shape.cc
testsuite_unit_test_gang_shape_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_call_order
TESTS += testsuite/unit/test_call_order
testsuite_unit_test_call_order_SOURCES = %D%/test_call_order.cc
testsuite_unit_test_call_order_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_owner_store
TESTS += testsuite/unit/test_owner_store
testsuite_unit_test_owner_store_SOURCES = %D%/test_owner_store.cc
testsuite_unit_test_owner_store_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_rank_layout
TESTS += testsuite/unit/test_rank_layout
testsuite_unit_test_rank_layout_SOURCES = %D%/gang_stage.h %D%/test_rank_layout.cc
testsuite_unit_test_rank_layout_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_gangs
TESTS += testsuite/unit/test_world_gangs
testsuite_unit_test_world_gangs_SOURCES = %D%/gang_stage.h %D%/test_world_gangs.cc
testsuite_unit_test_world_gangs_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_gang_attempts
TESTS += testsuite/unit/test_world_gang_attempts
testsuite_unit_test_world_gang_attempts_SOURCES = %D%/gang_stage.h %D%/test_world_gang_attempts.cc
testsuite_unit_test_world_gang_attempts_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_room
TESTS += testsuite/unit/test_world_room
testsuite_unit_test_world_room_SOURCES = %D%/gang_stage.h %D%/place_stage.h %D%/test_world_room.cc
testsuite_unit_test_world_room_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_settings
TESTS += testsuite/unit/test_world_settings
testsuite_unit_test_world_settings_SOURCES = %D%/place_stage.h %D%/test_world_settings.cc
testsuite_unit_test_world_settings_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_components
TESTS += testsuite/unit/test_components
testsuite_unit_test_components_SOURCES = %D%/test_components.cc
testsuite_unit_test_components_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_components
TESTS += testsuite/unit/test_world_components
testsuite_unit_test_world_components_SOURCES = \
	%D%/unlike_stage.h \
	%D%/gang_stage.h \
	%D%/test_world_components.cc
testsuite_unit_test_world_components_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_component_ends
TESTS += testsuite/unit/test_world_component_ends
testsuite_unit_test_world_component_ends_SOURCES = \
	%D%/unlike_stage.h \
	%D%/gang_stage.h \
	%D%/test_world_component_ends.cc
testsuite_unit_test_world_component_ends_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_roles
TESTS += testsuite/unit/test_world_roles
testsuite_unit_test_world_roles_SOURCES = %D%/gang_stage.h %D%/test_world_roles.cc
testsuite_unit_test_world_roles_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_scale
TESTS += testsuite/unit/test_world_scale
testsuite_unit_test_world_scale_SOURCES = %D%/gang_stage.h %D%/test_world_scale.cc
testsuite_unit_test_world_scale_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_grouping
TESTS += testsuite/unit/test_grouping
testsuite_unit_test_grouping_SOURCES = %D%/test_grouping.cc
testsuite_unit_test_grouping_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world
TESTS += testsuite/unit/test_world
testsuite_unit_test_world_SOURCES = %D%/test_world.cc
testsuite_unit_test_world_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_binding
TESTS += testsuite/unit/test_world_binding
testsuite_unit_test_world_binding_SOURCES = %D%/test_world_binding.cc
testsuite_unit_test_world_binding_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_jobs
TESTS += testsuite/unit/test_world_jobs
testsuite_unit_test_world_jobs_SOURCES = %D%/test_world_jobs.cc
testsuite_unit_test_world_jobs_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_options
TESTS += testsuite/unit/test_world_options
testsuite_unit_test_world_options_SOURCES = %D%/test_world_options.cc
testsuite_unit_test_world_options_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_sight
TESTS += testsuite/unit/test_world_sight
testsuite_unit_test_world_sight_SOURCES = %D%/test_world_sight.cc
testsuite_unit_test_world_sight_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_restarts
TESTS += testsuite/unit/test_world_restarts
testsuite_unit_test_world_restarts_SOURCES = %D%/test_world_restarts.cc
testsuite_unit_test_world_restarts_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_takeover
TESTS += testsuite/unit/test_world_takeover
testsuite_unit_test_world_takeover_SOURCES = %D%/test_world_takeover.cc
testsuite_unit_test_world_takeover_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_quantity
TESTS += testsuite/unit/test_quantity
testsuite_unit_test_quantity_SOURCES = %D%/test_quantity.cc
testsuite_unit_test_quantity_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_backoff
TESTS += testsuite/unit/test_backoff
testsuite_unit_test_backoff_SOURCES = %D%/test_backoff.cc
testsuite_unit_test_backoff_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_placement
TESTS += testsuite/unit/test_placement
testsuite_unit_test_placement_SOURCES = %D%/test_placement.cc
testsuite_unit_test_placement_LDADD = libcheck.la libcore.la libbase.la
check_PROGRAMS += testsuite/unit/test_pod_topology
TESTS += testsuite/unit/test_pod_topology
testsuite_unit_test_pod_topology_SOURCES = %D%/test_pod_topology.cc
testsuite_unit_test_pod_topology_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_placement
TESTS += testsuite/unit/test_world_placement
testsuite_unit_test_world_placement_SOURCES = %D%/test_world_placement.cc
testsuite_unit_test_world_placement_LDADD = libcheck.la libcore.la libbase.la
check_PROGRAMS += testsuite/unit/test_world_nearby_pods
TESTS += testsuite/unit/test_world_nearby_pods
testsuite_unit_test_world_nearby_pods_SOURCES = %D%/test_world_nearby_pods.cc
testsuite_unit_test_world_nearby_pods_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_place_changes
TESTS += testsuite/unit/test_world_place_changes
testsuite_unit_test_world_place_changes_SOURCES = %D%/test_world_place_changes.cc
testsuite_unit_test_world_place_changes_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_taints
TESTS += testsuite/unit/test_world_taints
testsuite_unit_test_world_taints_SOURCES = %D%/test_world_taints.cc
testsuite_unit_test_world_taints_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_options
TESTS += testsuite/unit/test_options
testsuite_unit_test_options_SOURCES = %D%/test_options.cc
testsuite_unit_test_options_LDADD = libcheck.la libcore.la libbase.la

# the tables of options in the documentation
check_PROGRAMS += testsuite/unit/options_doc
TESTS += testsuite/unit/options_doc
testsuite_unit_options_doc_SOURCES = %D%/options_doc.cc
testsuite_unit_options_doc_LDADD = libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_gres
TESTS += testsuite/unit/test_gres
testsuite_unit_test_gres_SOURCES = %D%/test_gres.cc
testsuite_unit_test_gres_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_owners
TESTS += testsuite/unit/test_world_owners
testsuite_unit_test_world_owners_SOURCES = %D%/test_world_owners.cc
testsuite_unit_test_world_owners_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_claims
TESTS += testsuite/unit/test_claims
testsuite_unit_test_claims_SOURCES = %D%/test_claims.cc
testsuite_unit_test_claims_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_claims
TESTS += testsuite/unit/test_world_claims
testsuite_unit_test_world_claims_SOURCES = %D%/test_world_claims.cc
testsuite_unit_test_world_claims_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_label_features
TESTS += testsuite/unit/test_label_features
testsuite_unit_test_label_features_SOURCES = %D%/test_label_features.cc
testsuite_unit_test_label_features_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_slinky_node
TESTS += testsuite/unit/test_slinky_node
testsuite_unit_test_slinky_node_SOURCES = %D%/test_slinky_node.cc
testsuite_unit_test_slinky_node_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_priority_classes
TESTS += testsuite/unit/test_priority_classes
testsuite_unit_test_priority_classes_SOURCES = %D%/test_priority_classes.cc
testsuite_unit_test_priority_classes_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_option_bounds
TESTS += testsuite/unit/test_option_bounds
testsuite_unit_test_option_bounds_SOURCES = %D%/test_option_bounds.cc
testsuite_unit_test_option_bounds_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_drain_report
TESTS += testsuite/unit/test_drain_report
testsuite_unit_test_drain_report_SOURCES = \
	%D%/test_drain_report.cc \
	%D%/world_facts.h \
	%D%/world_stage.h
testsuite_unit_test_drain_report_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_topology_lines
TESTS += testsuite/unit/test_topology_lines
testsuite_unit_test_topology_lines_SOURCES = %D%/test_topology_lines.cc
testsuite_unit_test_topology_lines_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_nodes
TESTS += testsuite/unit/test_world_nodes
testsuite_unit_test_world_nodes_SOURCES = \
	%D%/test_world_nodes.cc \
	%D%/world_facts.h \
	%D%/world_stage.h
testsuite_unit_test_world_nodes_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_prolog
TESTS += testsuite/unit/test_world_prolog
testsuite_unit_test_world_prolog_SOURCES = \
	%D%/gang_stage.h \
	%D%/test_world_prolog.cc \
	%D%/world_stage.h
testsuite_unit_test_world_prolog_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_component_lives
TESTS += testsuite/unit/test_world_component_lives
testsuite_unit_test_world_component_lives_SOURCES = \
	%D%/unlike_stage.h \
	%D%/gang_stage.h \
	%D%/test_world_component_lives.cc
testsuite_unit_test_world_component_lives_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_evictions
TESTS += testsuite/unit/test_world_evictions
testsuite_unit_test_world_evictions_SOURCES = %D%/test_world_evictions.cc %D%/world_stage.h
testsuite_unit_test_world_evictions_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_forgotten_jobs
TESTS += testsuite/unit/test_world_forgotten_jobs
testsuite_unit_test_world_forgotten_jobs_SOURCES = %D%/test_world_forgotten_jobs.cc \
	%D%/gang_stage.h %D%/unlike_stage.h %D%/world_stage.h
testsuite_unit_test_world_forgotten_jobs_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_hold
TESTS += testsuite/unit/test_world_hold
testsuite_unit_test_world_hold_SOURCES = \
	%D%/unlike_stage.h \
	%D%/gang_stage.h \
	%D%/test_world_hold.cc
testsuite_unit_test_world_hold_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_selection
TESTS += testsuite/unit/test_selection
testsuite_unit_test_selection_SOURCES = %D%/test_selection.cc
testsuite_unit_test_selection_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_asked_ends
TESTS += testsuite/unit/test_world_asked_ends
testsuite_unit_test_world_asked_ends_SOURCES = \
	%D%/end_stage.h \
	%D%/gang_stage.h \
	%D%/unlike_stage.h \
	%D%/world_stage.h \
	%D%/test_world_asked_ends.cc
testsuite_unit_test_world_asked_ends_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_late_ends
TESTS += testsuite/unit/test_world_late_ends
testsuite_unit_test_world_late_ends_SOURCES = \
	%D%/end_stage.h \
	%D%/gang_stage.h \
	%D%/unlike_stage.h \
	%D%/test_world_late_ends.cc
testsuite_unit_test_world_late_ends_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_slow_bindings
TESTS += testsuite/unit/test_world_slow_bindings
testsuite_unit_test_world_slow_bindings_SOURCES = \
	%D%/end_stage.h \
	%D%/gang_stage.h \
	%D%/place_stage.h \
	%D%/test_world_slow_bindings.cc
testsuite_unit_test_world_slow_bindings_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_failed_bindings
TESTS += testsuite/unit/test_world_failed_bindings
testsuite_unit_test_world_failed_bindings_SOURCES = \
	%D%/gang_stage.h \
	%D%/place_stage.h \
	%D%/test_world_failed_bindings.cc
testsuite_unit_test_world_failed_bindings_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_pod_groups
TESTS += testsuite/unit/test_world_pod_groups
testsuite_unit_test_world_pod_groups_SOURCES = %D%/gang_stage.h %D%/test_world_pod_groups.cc
testsuite_unit_test_world_pod_groups_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_gang_sizes
TESTS += testsuite/unit/test_world_gang_sizes
testsuite_unit_test_world_gang_sizes_SOURCES = %D%/gang_stage.h %D%/test_world_gang_sizes.cc
testsuite_unit_test_world_gang_sizes_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_cel
TESTS += testsuite/unit/test_cel
testsuite_unit_test_cel_SOURCES = %D%/cel_device.h %D%/test_cel.cc
testsuite_unit_test_cel_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_cel_refusals
TESTS += testsuite/unit/test_cel_refusals
testsuite_unit_test_cel_refusals_SOURCES = %D%/cel_device.h %D%/test_cel_refusals.cc
testsuite_unit_test_cel_refusals_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_cel_values
TESTS += testsuite/unit/test_cel_values
testsuite_unit_test_cel_values_SOURCES = %D%/test_cel_values.cc
testsuite_unit_test_cel_values_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_cel_regex
TESTS += testsuite/unit/test_cel_regex
testsuite_unit_test_cel_regex_SOURCES = %D%/test_cel_regex.cc
testsuite_unit_test_cel_regex_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_inventory
TESTS += testsuite/unit/test_inventory
testsuite_unit_test_inventory_SOURCES = %D%/test_inventory.cc
testsuite_unit_test_inventory_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_devices
TESTS += testsuite/unit/test_world_devices
testsuite_unit_test_world_devices_SOURCES = %D%/test_world_devices.cc
testsuite_unit_test_world_devices_LDADD = libcheck.la libcore.la libbase.la
check_PROGRAMS += testsuite/unit/test_device_demand
TESTS += testsuite/unit/test_device_demand
testsuite_unit_test_device_demand_SOURCES = %D%/device_facts.h %D%/test_device_demand.cc
testsuite_unit_test_device_demand_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_device_deal
TESTS += testsuite/unit/test_device_deal
testsuite_unit_test_device_deal_SOURCES = %D%/device_facts.h %D%/test_device_deal.cc
testsuite_unit_test_device_deal_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_device_rank_deal
TESTS += testsuite/unit/test_device_rank_deal
testsuite_unit_test_device_rank_deal_SOURCES = %D%/device_facts.h %D%/test_device_rank_deal.cc
testsuite_unit_test_device_rank_deal_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_gang_devices
TESTS += testsuite/unit/test_world_gang_devices
testsuite_unit_test_world_gang_devices_SOURCES = %D%/device_facts.h %D%/gang_stage.h \
	%D%/world_facts.h %D%/test_world_gang_devices.cc
testsuite_unit_test_world_gang_devices_LDADD = libcheck.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_world_resource_claims
TESTS += testsuite/unit/test_world_resource_claims
testsuite_unit_test_world_resource_claims_SOURCES = %D%/device_facts.h %D%/world_facts.h \
	%D%/test_world_resource_claims.cc
testsuite_unit_test_world_resource_claims_LDADD = libcheck.la libcore.la libbase.la
check_PROGRAMS += testsuite/unit/test_lease
TESTS += testsuite/unit/test_lease
testsuite_unit_test_lease_SOURCES = %D%/test_lease.cc
testsuite_unit_test_lease_LDADD = libcheck.la libcore.la libbase.la
