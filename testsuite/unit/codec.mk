# unit tests of src/codec
codec_test_files = \
	%D%/test_claim.cc \
	%D%/test_extended_claim.cc \
	%D%/test_frames.cc \
	%D%/test_json.cc \
	%D%/test_kube_writes.cc \
	%D%/test_link_codec.cc \
	%D%/test_marker.cc \
	%D%/test_metrics_text.cc \
	%D%/test_owner.cc \
	%D%/test_pod.cc \
	%D%/test_resource_claim.cc \
	%D%/test_resource_slice.cc \
	%D%/test_time.cc \
	%D%/test_wire.cc
codec_test_programs = $(codec_test_files:.cc=)
TESTS += $(codec_test_programs)
check_SCRIPTS += $(codec_test_programs)
check_PROGRAMS += testsuite/unit/codec_tests
codec_test_groups = \
	%D%/groups/codec_1_of_2.cc \
	%D%/groups/codec_2_of_2.cc
nodist_testsuite_unit_codec_tests_SOURCES = $(codec_test_groups)
testsuite_unit_codec_tests_SOURCES = \
	%D%/grouped.cc \
	%D%/grouped.h
testsuite_unit_codec_tests_LDADD = libcheck.la libcodec.la libcore.la libbase.la
EXTRA_DIST += $(codec_test_files)
CLEANFILES += $(codec_test_groups) $(codec_test_programs)
$(codec_test_groups): testsuite/unit/codec.mk testsuite/unit/group $(codec_test_files)
	$(AM_V_GEN)$(srcdir)/testsuite/unit/group $@ $(srcdir) $(codec_test_files)
$(codec_test_programs): testsuite/unit/codec_tests
	$(AM_V_GEN)ln -sf codec_tests $@
