# unit tests of src/agent/kube
check_PROGRAMS += testsuite/unit/test_kube
TESTS += testsuite/unit/test_kube
testsuite_unit_test_kube_CPPFLAGS = $(AM_CPPFLAGS) $(YAML_CFLAGS)
testsuite_unit_test_kube_SOURCES = %D%/test_kube.cc
testsuite_unit_test_kube_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_option_policy
TESTS += testsuite/unit/test_option_policy
testsuite_unit_test_option_policy_SOURCES = %D%/test_option_policy.cc
testsuite_unit_test_option_policy_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la
