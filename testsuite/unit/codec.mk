# unit tests of src/codec
check_PROGRAMS += testsuite/unit/test_json
TESTS += testsuite/unit/test_json
testsuite_unit_test_json_SOURCES = %D%/test_json.cc
testsuite_unit_test_json_LDADD = libcheck.la libcodec.la libcore.la libbase.la
check_PROGRAMS += testsuite/unit/test_marker
TESTS += testsuite/unit/test_marker
testsuite_unit_test_marker_SOURCES = %D%/test_marker.cc
testsuite_unit_test_marker_LDADD = libcheck.la libcodec.la libcore.la libbase.la
check_PROGRAMS += testsuite/unit/test_link_codec
TESTS += testsuite/unit/test_link_codec
testsuite_unit_test_link_codec_SOURCES = %D%/test_link_codec.cc
testsuite_unit_test_link_codec_LDADD = libcheck.la libcodec.la libcore.la libbase.la
