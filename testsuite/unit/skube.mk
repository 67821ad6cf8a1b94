# unit tests of skube, of slurmkube-node, and of base
skube_test_files = \
	%D%/test_event_text.cc \
	%D%/test_lists.cc \
	%D%/test_node.cc \
	%D%/test_node_check.cc \
	%D%/test_node_crio.cc \
	%D%/test_node_devices.cc \
	%D%/test_node_native.cc \
	%D%/test_node_native_containers.cc \
	%D%/test_node_native_memory.cc \
	%D%/test_node_native_v2.cc \
	%D%/test_node_rpc.cc \
	%D%/test_node_runtime.cc \
	%D%/test_programs.cc \
	%D%/test_selftest.cc \
	%D%/test_skube_nodes.cc \
	%D%/test_skube_targets.cc \
	%D%/test_socket_path.cc \
	%D%/test_text.cc \
	%D%/test_top.cc
skube_test_programs = $(skube_test_files:.cc=)
TESTS += $(skube_test_programs)
check_SCRIPTS += $(skube_test_programs)
check_PROGRAMS += testsuite/unit/skube_tests
skube_test_groups = \
	%D%/groups/skube_1_of_1.cc
nodist_testsuite_unit_skube_tests_SOURCES = $(skube_test_groups)
testsuite_unit_skube_tests_SOURCES = \
	%D%/grouped.cc \
	%D%/grouped.h \
	%D%/native_machine.h
testsuite_unit_skube_tests_LDADD = libcheck.la libnode.la libskube.la libcodec.la libcore.la \
	libbase.la
EXTRA_DIST += $(skube_test_files)
CLEANFILES += $(skube_test_groups) $(skube_test_programs)
$(skube_test_groups): testsuite/unit/skube.mk testsuite/unit/group $(skube_test_files)
	$(AM_V_GEN)$(srcdir)/testsuite/unit/group $@ $(srcdir) $(skube_test_files)
$(skube_test_programs): testsuite/unit/skube_tests
	$(AM_V_GEN)ln -sf skube_tests $@
