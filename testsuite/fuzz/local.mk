# Targets for libFuzzer. These programs replay the kept inputs. In a build that was configured with
# --enable-sanitizers=fuzzer, "make fuzzers" links each of them again as a fuzzer, beside the first
# as fuzz_NAME.fuzzer (testsuite/fuzz/fuzz does it).
fuzz_libs = libnode.la libskube.la libkubeplugin.la libagent.la libcodec.la libcore.la libbase.la
fuzz_cppflags = $(AM_CPPFLAGS) $(YAML_CFLAGS)
fuzz_main = libreplay.la
fuzz_ldflags = $(AM_LDFLAGS)
check_LTLIBRARIES += libreplay.la
libreplay_la_SOURCES = %D%/fuzz.h %D%/replay.cc

fuzz_targets = \
	testsuite/fuzz/fuzz_cel \
	testsuite/fuzz/fuzz_conf \
	testsuite/fuzz/fuzz_link \
	testsuite/fuzz/fuzz_marker \
	testsuite/fuzz/fuzz_nri \
	testsuite/fuzz/fuzz_numbers \
	testsuite/fuzz/fuzz_options \
	testsuite/fuzz/fuzz_owner \
	testsuite/fuzz/fuzz_pod \
	testsuite/fuzz/fuzz_skube \
	testsuite/fuzz/fuzz_text \
	testsuite/fuzz/fuzz_watch \
	testsuite/fuzz/fuzz_yaml
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)
fuzzers:
	@test -n "$(FUZZER_LDFLAGS)" || \
		{ echo "make fuzzers: configure with --enable-sanitizers=fuzzer" >&2; exit 2; }
	rm -f $(fuzz_targets)
	$(MAKE) $(AM_MAKEFLAGS) $(fuzz_targets) fuzz_main= \
		fuzz_ldflags='$(AM_LDFLAGS) $(FUZZER_LDFLAGS)'
	for i in $(fuzz_targets); do mv $$i $$i.fuzzer || exit; done
.PHONY: fuzzers
mostlyclean-local:
	rm -f testsuite/fuzz/fuzz_*.fuzzer

testsuite_fuzz_fuzz_cel_SOURCES = %D%/fuzz.h %D%/fuzz_cel.cc
testsuite_fuzz_fuzz_cel_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_cel_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_cel_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_conf_SOURCES = %D%/fuzz.h %D%/fuzz_conf.cc
testsuite_fuzz_fuzz_conf_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_conf_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_conf_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_link_SOURCES = %D%/fuzz.h %D%/fuzz_link.cc
testsuite_fuzz_fuzz_link_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_link_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_link_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_marker_SOURCES = %D%/fuzz.h %D%/fuzz_marker.cc
testsuite_fuzz_fuzz_marker_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_marker_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_marker_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_nri_SOURCES = %D%/fuzz.h %D%/fuzz_nri.cc
testsuite_fuzz_fuzz_nri_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_nri_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_nri_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_numbers_SOURCES = %D%/fuzz.h %D%/fuzz_numbers.cc
testsuite_fuzz_fuzz_numbers_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_numbers_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_numbers_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_options_SOURCES = %D%/fuzz.h %D%/fuzz_options.cc
testsuite_fuzz_fuzz_options_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_options_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_options_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_owner_SOURCES = %D%/fuzz.h %D%/fuzz_owner.cc
testsuite_fuzz_fuzz_owner_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_owner_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_owner_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_pod_SOURCES = %D%/fuzz.h %D%/fuzz_pod.cc
testsuite_fuzz_fuzz_pod_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_pod_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_pod_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_skube_SOURCES = %D%/fuzz.h %D%/fuzz_skube.cc
testsuite_fuzz_fuzz_skube_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_skube_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_skube_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_text_SOURCES = %D%/fuzz.h %D%/fuzz_text.cc
testsuite_fuzz_fuzz_text_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_text_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_text_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_watch_SOURCES = %D%/fuzz.h %D%/fuzz_watch.cc
testsuite_fuzz_fuzz_watch_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_watch_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_watch_LDADD = $(fuzz_main) $(fuzz_libs)
testsuite_fuzz_fuzz_yaml_SOURCES = %D%/fuzz.h %D%/fuzz_yaml.cc
testsuite_fuzz_fuzz_yaml_CPPFLAGS = $(fuzz_cppflags)
testsuite_fuzz_fuzz_yaml_LDFLAGS = $(fuzz_ldflags)
testsuite_fuzz_fuzz_yaml_LDADD = $(fuzz_main) $(fuzz_libs)
