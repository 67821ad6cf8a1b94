# unit tests of base, and of what rests on it everywhere
check_PROGRAMS += testsuite/unit/test_text
TESTS += testsuite/unit/test_text
testsuite_unit_test_text_SOURCES = %D%/test_text.cc
testsuite_unit_test_text_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_lists
TESTS += testsuite/unit/test_lists
testsuite_unit_test_lists_SOURCES = %D%/test_lists.cc
testsuite_unit_test_lists_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_socket_path
TESTS += testsuite/unit/test_socket_path
testsuite_unit_test_socket_path_SOURCES = %D%/test_socket_path.cc
testsuite_unit_test_socket_path_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_programs
TESTS += testsuite/unit/test_programs
testsuite_unit_test_programs_SOURCES = %D%/test_programs.cc
testsuite_unit_test_programs_LDADD = libcheck.la libbase.la

check_PROGRAMS += testsuite/unit/test_selftest
TESTS += testsuite/unit/test_selftest
testsuite_unit_test_selftest_SOURCES = %D%/test_selftest.cc
testsuite_unit_test_selftest_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_top
TESTS += testsuite/unit/test_top
testsuite_unit_test_top_SOURCES = %D%/test_top.cc
testsuite_unit_test_top_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_event_text
TESTS += testsuite/unit/test_event_text
testsuite_unit_test_event_text_SOURCES = %D%/test_event_text.cc
testsuite_unit_test_event_text_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_skube_nodes
TESTS += testsuite/unit/test_skube_nodes
testsuite_unit_test_skube_nodes_SOURCES = %D%/test_skube_nodes.cc
testsuite_unit_test_skube_nodes_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la

check_PROGRAMS += testsuite/unit/test_skube_targets
TESTS += testsuite/unit/test_skube_targets
testsuite_unit_test_skube_targets_SOURCES = %D%/test_skube_targets.cc
testsuite_unit_test_skube_targets_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la
