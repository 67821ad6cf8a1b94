# unit tests of plugin
plugin_test_files = \
	%D%/test_plugin_budget.cc \
	%D%/test_plugin_conf.cc \
	%D%/test_plugin_feed.cc \
	%D%/test_plugin_foreign_partitions.cc \
	%D%/test_plugin_guard.cc \
	%D%/test_plugin_job_walk.cc \
	%D%/test_plugin_node_state_file.cc \
	%D%/test_plugin_slurmd_prolog.cc \
	%D%/test_plugin_submission_registry.cc
plugin_test_programs = $(plugin_test_files:.cc=)
TESTS += $(plugin_test_programs)
check_SCRIPTS += $(plugin_test_programs)
check_PROGRAMS += testsuite/unit/plugin_tests
plugin_test_groups = \
	%D%/groups/plugin_1_of_1.cc
nodist_testsuite_unit_plugin_tests_SOURCES = $(plugin_test_groups)
testsuite_unit_plugin_tests_SOURCES = \
	%D%/grouped.cc \
	%D%/grouped.h
testsuite_unit_plugin_tests_LDADD = libcheck.la libkubeplugin.la libcodec.la libcore.la libbase.la
EXTRA_DIST += $(plugin_test_files)
CLEANFILES += $(plugin_test_groups) $(plugin_test_programs)
$(plugin_test_groups): testsuite/unit/plugin.mk testsuite/unit/group $(plugin_test_files)
	$(AM_V_GEN)$(srcdir)/testsuite/unit/group $@ $(srcdir) $(plugin_test_files)
$(plugin_test_programs): testsuite/unit/plugin_tests
	$(AM_V_GEN)ln -sf plugin_tests $@
