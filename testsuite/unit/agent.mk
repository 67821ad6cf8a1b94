# unit tests of agent
agent_test_files = \
	%D%/test_config.cc \
	%D%/test_controller_watch.cc \
	%D%/test_hybrid_settings.cc \
	%D%/test_kube.cc \
	%D%/test_log_sinks.cc \
	%D%/test_native_settings.cc \
	%D%/test_option_policy.cc \
	%D%/test_slurm_metrics.cc \
	%D%/test_sources.cc \
	%D%/test_topology.cc \
	%D%/test_translate_names.cc \
	%D%/test_user_rates.cc \
	%D%/test_watch_table.cc \
	%D%/test_watched_world.cc
agent_test_programs = $(agent_test_files:.cc=)
TESTS += $(agent_test_programs)
check_SCRIPTS += $(agent_test_programs)
check_PROGRAMS += testsuite/unit/agent_tests
agent_test_groups = \
	%D%/groups/agent_1_of_2.cc \
	%D%/groups/agent_2_of_2.cc
nodist_testsuite_unit_agent_tests_SOURCES = $(agent_test_groups)
testsuite_unit_agent_tests_SOURCES = \
	%D%/gang_stage.h \
	%D%/grouped.cc \
	%D%/grouped.h
testsuite_unit_agent_tests_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(YAML_CFLAGS) $(SLURM_CPPFLAGS)
testsuite_unit_agent_tests_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la
EXTRA_DIST += $(agent_test_files)
CLEANFILES += $(agent_test_groups) $(agent_test_programs)
$(agent_test_groups): testsuite/unit/agent.mk testsuite/unit/group $(agent_test_files)
	$(AM_V_GEN)$(srcdir)/testsuite/unit/group $@ $(srcdir) $(agent_test_files)
$(agent_test_programs): testsuite/unit/agent_tests
	$(AM_V_GEN)ln -sf agent_tests $@

# replaces a function of libslurm
check_PROGRAMS += testsuite/unit/test_controller_choice
TESTS += testsuite/unit/test_controller_choice
testsuite_unit_test_controller_choice_SOURCES = %D%/test_controller_choice.cc
testsuite_unit_test_controller_choice_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
testsuite_unit_test_controller_choice_LDADD = libcheck.la libagent.la libcodec.la libcore.la \
	libbase.la $(SLURM_LIBS)
