# the core against a seeded model of both worlds; doc/design/simulation.md

check_PROGRAMS += testsuite/sim/sim
sim_files = \
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
EXTRA_DIST += $(sim_files)
sim_units = \
	%D%/unity/sim_1_of_4.cc \
	%D%/unity/sim_2_of_4.cc \
	%D%/unity/sim_3_of_4.cc \
	%D%/unity/sim_4_of_4.cc
CLEANFILES += $(sim_units)
$(sim_units): testsuite/sim/local.mk src/unity
	$(AM_V_GEN)$(srcdir)/src/unity $@ $(sim_files)
if UNITY
nodist_testsuite_sim_sim_SOURCES = $(sim_units)
else
nodist_testsuite_sim_sim_SOURCES = $(sim_files)
endif
testsuite_sim_sim_SOURCES =
testsuite_sim_sim_LDADD = libexecutor.la libcore.la libbase.la
