# unit tests of agent
check_PROGRAMS += testsuite/unit/test_config
TESTS += testsuite/unit/test_config
testsuite_unit_test_config_SOURCES = %D%/test_config.cc
testsuite_unit_test_config_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la
