sbin_PROGRAMS += slurmkube-node
noinst_LTLIBRARIES += libnode.la
libnode_la_SOURCES =
node_files = \
	%D%/cgroups.cc \
	%D%/cgroups.h \
	%D%/check.cc \
	%D%/check.h \
	%D%/confine.cc \
	%D%/confine.h \
	%D%/containerd.cc \
	%D%/containerd.h \
	%D%/containerd_status.cc \
	%D%/containerd_status.h \
	%D%/crio.cc \
	%D%/crio.h \
	%D%/crio_hook.cc \
	%D%/crio_hook.h \
	%D%/device_access.cc \
	%D%/device_access.h \
	%D%/epilog.cc \
	%D%/epilog.h \
	%D%/files.cc \
	%D%/files.h \
	%D%/limit_writers.cc \
	%D%/limit_writers.h \
	%D%/message.cc \
	%D%/message.h \
	%D%/native_jobs.cc \
	%D%/native_jobs.h \
	%D%/native_memory.cc \
	%D%/native_memory.h \
	%D%/native_pods.cc \
	%D%/native_pods.h \
	%D%/native_scripts.cc \
	%D%/native_scripts.h \
	%D%/nri.cc \
	%D%/nri.h \
	%D%/oci_hook.cc \
	%D%/oci_hook.h \
	%D%/patience.cc \
	%D%/patience.h \
	%D%/plugin.cc \
	%D%/plugin_adopt.cc \
	%D%/plugin.h \
	%D%/records.cc \
	%D%/records.h \
	%D%/rpc.cc \
	%D%/rpc.h \
	%D%/runtime.cc \
	%D%/runtime.h \
	%D%/settings.cc \
	%D%/settings.h \
	%D%/systemd_units.cc \
	%D%/systemd_units.h \
	%D%/toml.cc \
	%D%/toml.h
EXTRA_DIST += $(node_files)
node_units = %D%/unity/node_1_of_1.cc
CLEANFILES += $(node_units)
$(node_units): src/node/local.mk src/unity
	$(AM_V_GEN)$(srcdir)/src/unity $@ $(node_files)
if UNITY
nodist_libnode_la_SOURCES = $(node_units)
else
nodist_libnode_la_SOURCES = $(node_files)
endif
libnode_la_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS)
libnode_la_LIBADD = libcodec.la libcore.la libbase.la $(SYSTEMD_LIBS)
slurmkube_node_SOURCES = %D%/main.cc
slurmkube_node_CPPFLAGS = $(AM_CPPFLAGS) $(SYSTEMD_CFLAGS)
slurmkube_node_LDADD = libnode.la $(SYSTEMD_LIBS)
