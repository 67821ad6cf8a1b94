# unit tests of src/codec
check_PROGRAMS += testsuite/unit/test_json
TESTS += testsuite/unit/test_json
testsuite_unit_test_json_SOURCES = %D%/test_json.cc
testsuite_unit_test_json_LDADD = libcheck.la libcodec.la libcore.la libbase.la
