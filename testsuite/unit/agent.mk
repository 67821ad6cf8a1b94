# unit tests of agent
check_PROGRAMS += testsuite/unit/test_user_rates
TESTS += testsuite/unit/test_user_rates
testsuite_unit_test_user_rates_SOURCES = %D%/test_user_rates.cc
testsuite_unit_test_user_rates_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_config
TESTS += testsuite/unit/test_config
testsuite_unit_test_config_SOURCES = %D%/test_config.cc
testsuite_unit_test_config_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_log_sinks
TESTS += testsuite/unit/test_log_sinks
testsuite_unit_test_log_sinks_SOURCES = %D%/test_log_sinks.cc
testsuite_unit_test_log_sinks_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_controller_choice
TESTS += testsuite/unit/test_controller_choice
testsuite_unit_test_controller_choice_SOURCES = %D%/test_controller_choice.cc
testsuite_unit_test_controller_choice_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
testsuite_unit_test_controller_choice_LDADD = libcheck.la libagent.la libcodec.la libcore.la \
	libbase.la $(SLURM_LIBS)

check_PROGRAMS += testsuite/unit/test_controller_watch
TESTS += testsuite/unit/test_controller_watch
testsuite_unit_test_controller_watch_SOURCES = %D%/test_controller_watch.cc
testsuite_unit_test_controller_watch_LDADD = libcheck.la libagent.la libcodec.la libcore.la \
	libbase.la

check_PROGRAMS += testsuite/unit/test_sources
TESTS += testsuite/unit/test_sources
testsuite_unit_test_sources_SOURCES = %D%/test_sources.cc
testsuite_unit_test_sources_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(SLURM_CPPFLAGS)
testsuite_unit_test_sources_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_slurm_metrics
TESTS += testsuite/unit/test_slurm_metrics
testsuite_unit_test_slurm_metrics_SOURCES = %D%/test_slurm_metrics.cc
testsuite_unit_test_slurm_metrics_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_topology
TESTS += testsuite/unit/test_topology
testsuite_unit_test_topology_SOURCES = %D%/test_topology.cc
testsuite_unit_test_topology_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
testsuite_unit_test_topology_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_translate_names
TESTS += testsuite/unit/test_translate_names
testsuite_unit_test_translate_names_SOURCES = %D%/test_translate_names.cc
testsuite_unit_test_translate_names_LDADD = libcheck.la libagent.la libcodec.la libcore.la \
	libbase.la
check_PROGRAMS += testsuite/unit/test_watch_table
TESTS += testsuite/unit/test_watch_table
testsuite_unit_test_watch_table_SOURCES = %D%/test_watch_table.cc
testsuite_unit_test_watch_table_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_watched_world
TESTS += testsuite/unit/test_watched_world
testsuite_unit_test_watched_world_SOURCES = %D%/gang_stage.h %D%/test_watched_world.cc
testsuite_unit_test_watched_world_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la
