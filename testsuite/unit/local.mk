# One CUnit program a module; each fragment adds to TESTS and check_PROGRAMS.
check_LTLIBRARIES += libcheck.la
libcheck_la_SOURCES = \
	%D%/builders.h \
	%D%/check.cc \
	%D%/check.h \
	%D%/world_facts.h \
	%D%/world_stage.h
libcheck_la_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS)
libcheck_la_LIBADD = $(CUNIT_LIBS)
# testsuite/check compiles the tests faster than what they test
%D%/%.o %D%/%.lo: CXXFLAGS += $(TEST_CXXFLAGS)
include %D%/skube.mk
if CORE_TESTS
include %D%/core.mk
endif
include %D%/codec.mk
include %D%/plugin.mk
include %D%/agent.mk
