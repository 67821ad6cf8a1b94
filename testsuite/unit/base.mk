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
testsuite_unit_test_programs_LDADD = libcheck.la libskube.la libcodec.la libcore.la libbase.la
