# parts of this folder

# src/agent/slurm against a real slurmctld: testsuite/component/slurm/run
check_PROGRAMS += testsuite/component/slurm/probe
testsuite_component_slurm_probe_SOURCES = %D%/slurm/probe.cc
testsuite_component_slurm_probe_LDADD = libagent.la libcodec.la libcore.la libbase.la
EXTRA_DIST += %D%/slurm/run

# src/agent/ctl with real sockets
check_PROGRAMS += testsuite/component/ctl/test_ctl
TESTS += testsuite/component/ctl/test_ctl
testsuite_component_ctl_test_ctl_SOURCES = %D%/ctl/test_ctl.cc
testsuite_component_ctl_test_ctl_LDADD = libcheck.la libagent.la libcodec.la libcore.la libbase.la
