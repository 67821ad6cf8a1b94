# the core against a seeded model of both worlds; doc/design/simulation.md

check_PROGRAMS += testsuite/sim/sim
testsuite_sim_sim_SOURCES = \
	%D%/agent.cc \
	%D%/agent.h \
	%D%/agent_acts.cc \
	%D%/agent_devices.cc \
	%D%/calls.cc \
	%D%/calls.h \
	%D%/controllers.cc \
	%D%/devices.cc \
	%D%/devices.h \
	%D%/gangs.cc \
	%D%/gangs.h \
	%D%/events.cc \
	%D%/kube.cc \
	%D%/kube.h \
	%D%/kubelet.cc \
	%D%/main.cc \
	%D%/oracle.cc \
	%D%/oracle.h \
	%D%/oracle_devices.cc \
	%D%/oracle_gangs.cc \
	%D%/planted_bugs.h \
	%D%/plugin.cc \
	%D%/script.cc \
	%D%/script.h \
	%D%/convergence.cc \
	%D%/shrink.cc \
	%D%/shrink.h \
	%D%/sides.h \
	%D%/sides_kube.cc \
	%D%/sides_slurm.cc \
	%D%/simulation.cc \
	%D%/simulation.h \
	%D%/slurm.cc \
	%D%/slurm.h \
	%D%/slurm_gpus.cc \
	%D%/stage.cc \
	%D%/stage.h \
	%D%/stream.h
testsuite_sim_sim_LDADD = libexecutor.la libcore.la libbase.la
