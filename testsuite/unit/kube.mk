# unit tests of src/agent/kube
check_PROGRAMS += testsuite/unit/test_kube
TESTS += testsuite/unit/test_kube
testsuite_unit_test_kube_CPPFLAGS = $(AM_CPPFLAGS) $(YAML_CFLAGS)
testsuite_unit_test_kube_SOURCES = %D%/test_kube.cc
testsuite_unit_test_kube_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la
