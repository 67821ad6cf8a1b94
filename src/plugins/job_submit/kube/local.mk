# The plugin is built only if configure was given Slurm's source tree; its pure parts are always
# built, for their unit tests.
noinst_LTLIBRARIES += libkubeplugin.la
libkubeplugin_la_SOURCES = \
	%D%/kube_conf.cc \
	%D%/kube_conf.h \
	%D%/costs.cc \
	%D%/costs.h \
	%D%/feed.cc \
	%D%/feed.h \
	%D%/foreign_partitions.cc \
	%D%/foreign_partitions.h \
	%D%/gres_conf.cc \
	%D%/gres_conf.h \
	%D%/guard.cc \
	%D%/guard.h \
	%D%/job_walk.cc \
	%D%/job_walk.h \
	%D%/marker_copy.cc \
	%D%/marker_copy.h \
	%D%/node_state_file.cc \
	%D%/node_state_file.h \
	%D%/slurmd_prolog.h \
	%D%/budget.cc \
	%D%/budget.h \
	%D%/submission_registry.cc \
	%D%/submission_registry.h \
	%D%/thread.cc \
	%D%/thread.h
libkubeplugin_la_CXXFLAGS = $(AM_CXXFLAGS) -fvisibility=hidden $(NO_UNIQUE_CXXFLAGS)

EXTRA_DIST += \
	%D%/README.md \
	%D%/exports.map

if BUILD_PLUGIN
slurmplugindir = $(slurm_plugindir)
slurmplugin_LTLIBRARIES = job_submit_kube.la

# C files with Slurm's own headers are a library of their own, because they need Slurm's config.h
# and not ours.
noinst_LTLIBRARIES += libkubeseam.la
libkubeseam_la_SOURCES = \
	%D%/facts.h \
	%D%/job_submit_kube.c \
	%D%/seam.h \
	%D%/seam_ends.c \
	%D%/seam_host.c \
	%D%/seam_jobs.c \
	%D%/seam_job_walk.c \
	%D%/seam_nodes.c \
	%D%/seam_node_kinds.c \
	%D%/seam_node_state.c \
	%D%/seam_partitions.c \
	%D%/seam_private.h \
	%D%/seam_prolog.c \
	%D%/seam_sink.c
libkubeseam_la_CPPFLAGS = $(SLURM_SRC_CPPFLAGS) -I$(top_srcdir)
libkubeseam_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden

# The files of base and codec that the plugin needs are compiled for it: libtool would put whole
# libraries into the module, and these flags allow the module to be unloaded.
job_submit_kube_la_SOURCES = \
	src/base/log.cc \
	src/base/text.cc \
	src/codec/fields.cc \
	src/codec/json.cc \
	src/codec/link_decode.cc \
	src/codec/link_encode.cc \
	src/codec/link_names.cc \
	src/codec/marker.cc \
	%D%/files.cc \
	%D%/files.h \
	%D%/glue.cc \
	%D%/lock_hold.h \
	%D%/job_facts.cc \
	%D%/job_facts.h \
	%D%/job_watch.cc \
	%D%/job_watch.h \
	%D%/job_watch_looks.cc \
	%D%/job_watch_search.cc \
	%D%/keeper.cc \
	%D%/keeper.h \
	%D%/link.cc \
	%D%/link.h \
	%D%/node_watch.cc \
	%D%/node_watch.h \
	%D%/node_watch_gres.cc \
	%D%/node_watch_partitions.cc \
	%D%/plugin.cc \
	%D%/plugin.h \
	%D%/plugin_hooks.cc \
	%D%/sink.cc \
	%D%/sink.h \
	%D%/socket_owner.cc \
	%D%/socket_owner.h \
	%D%/verdict.h
EXTRA_job_submit_kube_la_DEPENDENCIES = $(top_srcdir)/%D%/exports.map
job_submit_kube_la_CXXFLAGS = $(AM_CXXFLAGS) -fvisibility=hidden $(NO_UNIQUE_CXXFLAGS)
job_submit_kube_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -export-dynamic \
	-Wl,--version-script=$(top_srcdir)/%D%/exports.map
job_submit_kube_la_LIBADD = libkubeseam.la libkubeplugin.la $(JSON_C_LIBS)

# Nobody links against a plugin, so libtool's .la file is not installed.
install-data-hook:
	rm -f $(DESTDIR)$(slurmplugindir)/job_submit_kube.la
uninstall-hook:
	rm -f $(DESTDIR)$(slurmplugindir)/job_submit_kube.so
endif
