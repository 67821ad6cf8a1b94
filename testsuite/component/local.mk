# parts of this folder

# src/agent/slurm against a real slurmctld: testsuite/component/slurm/test_slurm
check_PROGRAMS += testsuite/component/slurm/probe
testsuite_component_slurm_probe_SOURCES = %D%/slurm/probe.cc
testsuite_component_slurm_probe_LDADD = libagent.la libcodec.la libcore.la libbase.la
EXTRA_DIST += %D%/slurm/test_slurm

# src/agent/slurm/figures* beside squeue, scontrol and sdiag, with the fixture of the plugin:
# testsuite/component/figures/test_figures.py
EXTRA_DIST += %D%/figures/families.txt %D%/figures/test_figures.py

# src/agent/ctl with real sockets
check_PROGRAMS += testsuite/component/ctl/test_ctl
TESTS += testsuite/component/ctl/test_ctl
testsuite_component_ctl_test_ctl_SOURCES = %D%/ctl/test_ctl.cc
testsuite_component_ctl_test_ctl_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la
check_PROGRAMS += testsuite/component/ctl/test_watch
TESTS += testsuite/component/ctl/test_watch
testsuite_component_ctl_test_watch_SOURCES = %D%/ctl/test_watch.cc
testsuite_component_ctl_test_watch_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

# src/agent/link with real sockets
check_PROGRAMS += testsuite/component/link/test_link
TESTS += testsuite/component/link/test_link
testsuite_component_link_test_link_SOURCES = %D%/link/test_link.cc
testsuite_component_link_test_link_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la

# src/agent/kube against a real kube-apiserver: testsuite/component/kube/test_kube.py
check_PROGRAMS += testsuite/component/kube/probe
testsuite_component_kube_probe_SOURCES = %D%/kube/probe.cc
testsuite_component_kube_probe_LDADD = libagent.la libcodec.la libcore.la libbase.la
EXTRA_DIST += \
	%D%/kube/access_tests.py \
	%D%/kube/testbed.py \
	%D%/kube/client_tests.py \
	%D%/kube/registry.py \
	%D%/kube/test_kube.py \
	%D%/kube/watch_tests.py \
	%D%/kube/wire_tests.py \
	%D%/kube/writes_tests.py

# skube against a peer that answers as told
TESTS += %D%/skube/test_completion.py %D%/skube/test_lists.py %D%/skube/test_manifests.py \
	%D%/skube/test_migrate.py %D%/skube/test_migrate_sunk.py \
	%D%/skube/test_selftest.py %D%/skube/test_site_files.py %D%/skube/test_skube.py \
	%D%/skube/test_teardown.py %D%/skube/test_watch.py
EXTRA_DIST += \
	%D%/skube/fixture.py \
	%D%/skube/test_completion.py \
	%D%/skube/test_lists.py \
	%D%/skube/test_manifests.py \
	%D%/skube/test_migrate.py \
	%D%/skube/test_migrate_sunk.py \
	%D%/skube/test_selftest.py \
	%D%/skube/test_site_files.py \
	%D%/skube/test_skube.py \
	%D%/skube/test_teardown.py \
	%D%/skube/test_watch.py

# the plugin in a real slurmctld: testsuite/component/plugin/test_plugin.py
if BUILD_PLUGIN
check_PROGRAMS += testsuite/component/plugin/alloc
testsuite_component_plugin_alloc_SOURCES = %D%/plugin/alloc.c
testsuite_component_plugin_alloc_CPPFLAGS = $(AM_CPPFLAGS) $(SLURM_CPPFLAGS)
testsuite_component_plugin_alloc_LDADD = $(SLURM_LIBS)

# the plugin in a stub of slurmctld: testsuite/component/host/test_host makes it where it fits
# (Slurm 22.05)
EXTRA_LTLIBRARIES += libhost.la
libhost_la_SOURCES = \
	%D%/host/host.h \
	%D%/host/inside.h \
	%D%/host/records.c \
	%D%/host/symbols.c \
	%D%/host/tables.c
libhost_la_CPPFLAGS = $(SLURM_SRC_CPPFLAGS) -I$(top_srcdir)
if HOST_STUB_FITS
check_PROGRAMS += testsuite/component/host/host
else
EXTRA_PROGRAMS += testsuite/component/host/host
endif
# The files of base and codec that it needs are compiled for it, so that ThreadSanitizer's build
# needs no other library.
testsuite_component_host_host_SOURCES = \
	src/base/text.cc \
	src/codec/fields.cc \
	src/codec/frames.cc \
	src/codec/json.cc \
	src/codec/link_decode.cc \
	src/codec/link_encode.cc \
	src/codec/link_names.cc \
	src/codec/marker.cc \
	%D%/host/host.cc \
	%D%/host/peer.cc \
	%D%/host/peer.h
testsuite_component_host_host_CXXFLAGS = $(AM_CXXFLAGS)
testsuite_component_host_host_LDFLAGS = $(AM_LDFLAGS) -rdynamic
testsuite_component_host_host_LDADD = libhost.la $(JSON_C_LIBS)
endif
EXTRA_DIST += \
	%D%/plugin/test_plugin.py \
	%D%/plugin/faults.py \
	%D%/plugin/gres.py \
	%D%/plugin/guard.py \
	%D%/plugin/jobs.py \
	%D%/plugin/fixture.py \
	%D%/plugin/scripts.py \
	%D%/plugin/service.py

# our verdicts on pods and nodes beside kube-scheduler's own:
# testsuite/component/oracle/test_oracle.py
check_PROGRAMS += testsuite/component/oracle/verdicts
testsuite_component_oracle_verdicts_SOURCES = testsuite/component/oracle/verdicts.cc
testsuite_component_oracle_verdicts_LDADD = libcodec.la libcore.la libbase.la
# our verdicts on CEL selectors beside Kubernetes' own
check_PROGRAMS += testsuite/component/oracle/selectors
testsuite_component_oracle_selectors_SOURCES = testsuite/component/oracle/selectors.cc
testsuite_component_oracle_selectors_LDADD = libcodec.la libcore.la libbase.la
# our decisions about devices beside kube-scheduler's own
check_PROGRAMS += testsuite/component/oracle/devices
testsuite_component_oracle_devices_SOURCES = testsuite/component/oracle/devices.cc
testsuite_component_oracle_devices_LDADD = libcodec.la libcore.la libbase.la
EXTRA_DIST += \
	%D%/oracle/cases.py \
	%D%/oracle/cel_boundaries.py \
	%D%/oracle/cel_cases.py \
	%D%/oracle/cel_compare.py \
	%D%/oracle/device_cases.py \
	%D%/oracle/device_compare.py \
	%D%/oracle/test_oracle.py \
	testsuite/oracle/build \
	testsuite/oracle/cel.go \
	testsuite/oracle/device_check.go \
	testsuite/oracle/devices.go \
	testsuite/oracle/main.go
