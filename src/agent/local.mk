# without libcurl and libslurm: the simulator has it as well
noinst_LTLIBRARIES += libexecutor.la
libexecutor_la_SOURCES =
executor_files = \
	%D%/executor.cc \
	%D%/executor.h \
	%D%/executor_pods.cc \
	%D%/kube/binding.cc \
	%D%/kube/binding.h \
	%D%/sides.h
EXTRA_DIST += $(executor_files)
executor_units = \
	%D%/unity/all.cc
CLEANFILES += $(executor_units)
$(executor_units): src/agent/local.mk src/unity
	$(AM_V_GEN)$(srcdir)/src/unity $@ $(executor_files)
if UNITY
nodist_libexecutor_la_SOURCES = $(executor_units)
else
nodist_libexecutor_la_SOURCES = $(executor_files)
endif

noinst_LTLIBRARIES += libagent.la
libagent_la_SOURCES =
agent_files = \
	%D%/app.cc \
	%D%/app.h \
	%D%/app_native.cc \
	%D%/app_nodes.cc \
	%D%/checks.cc \
	%D%/checks.h \
	%D%/checks_hybrid.cc \
	%D%/checks_kube.cc \
	%D%/checks_parts.h \
	%D%/checks_slurm.cc \
	%D%/config.cc \
	%D%/config.h \
	%D%/config_devices.cc \
	%D%/config_devices.h \
	%D%/config_gres.cc \
	%D%/config_gres.h \
	%D%/config_identity.cc \
	%D%/config_identity.h \
	%D%/config_metrics.cc \
	%D%/config_metrics.h \
	%D%/config_nodes.cc \
	%D%/config_nodes.h \
	%D%/config_reader.cc \
	%D%/config_reader.h \
	%D%/config_trial.cc \
	%D%/config_trial.h \
	%D%/health.cc \
	%D%/health.h \
	%D%/http_service.cc \
	%D%/http_service.h \
	%D%/identity.cc \
	%D%/identity.h \
	%D%/lease_keeper.cc \
	%D%/lease_keeper.h \
	%D%/links.cc \
	%D%/links.h \
	%D%/log_sinks.cc \
	%D%/log_sinks.h \
	%D%/look.cc \
	%D%/look.h \
	%D%/loop.cc \
	%D%/loop.h \
	%D%/user_search.cc \
	%D%/user_search.h \
	%D%/metrics.cc \
	%D%/metrics.h \
	%D%/metrics_process.cc \
	%D%/metrics_process.h \
	%D%/metrics_scheduler.cc \
	%D%/metrics_scheduler.h \
	%D%/pages.cc \
	%D%/pages.h \
	%D%/replies.cc \
	%D%/replies.h \
	%D%/replies_devices.cc \
	%D%/replies_diag.cc \
	%D%/replies_lists.cc \
	%D%/replies_watch.cc \
	%D%/replies_why.cc \
	%D%/rows.cc \
	%D%/rows.h \
	%D%/replies_parts.h \
	%D%/slurm_metrics.cc \
	%D%/slurm_metrics.h \
	%D%/source_rows.cc \
	%D%/source_rows.h \
	%D%/source_rows_devices.cc \
	%D%/sources.cc \
	%D%/sources.h \
	%D%/translate_names.cc \
	%D%/translate_names.h \
	%D%/credential_ends.cc \
	%D%/credential_ends.h \
	%D%/event_recorder.cc \
	%D%/event_recorder.h \
	%D%/unix_listener.cc \
	%D%/unix_listener.h
libagent_la_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(YAML_CFLAGS) $(JWT_CFLAGS) \
	$(CRYPTO_CFLAGS) $(SYSTEMD_CFLAGS) $(MICROHTTPD_CFLAGS) $(SLURM_CPPFLAGS)
libagent_la_LIBADD = libexecutor.la libmanifests.la libcodec.la libcore.la libbase.la \
	$(CURL_LIBS) $(YAML_LIBS) $(JWT_LIBS) $(CRYPTO_LIBS) $(SYSTEMD_LIBS) \
	$(MICROHTTPD_LIBS) $(SLURM_LIBS)
include %D%/kube/local.mk
include %D%/slurm/local.mk
include %D%/link/local.mk
include %D%/ctl/local.mk
include %D%/http/local.mk
include %D%/watch/local.mk
agent_makefiles = \
	src/agent/local.mk \
	src/agent/kube/local.mk \
	src/agent/link/local.mk \
	src/agent/ctl/local.mk \
	src/agent/http/local.mk \
	src/agent/watch/local.mk
EXTRA_DIST += $(agent_files)
agent_units = \
	%D%/unity/agent_1_of_3.cc \
	%D%/unity/agent_2_of_3.cc \
	%D%/unity/agent_3_of_3.cc \
	%D%/unity/ctl.cc \
	%D%/unity/http.cc \
	%D%/unity/kube_1_of_2.cc \
	%D%/unity/kube_2_of_2.cc \
	%D%/unity/link.cc \
	%D%/unity/watch.cc
CLEANFILES += $(agent_units)
$(agent_units): $(agent_makefiles) src/unity
	$(AM_V_GEN)$(srcdir)/src/unity $@ $(agent_files)
if UNITY
nodist_libagent_la_SOURCES = $(agent_units)
else
nodist_libagent_la_SOURCES = $(agent_files)
endif

sbin_PROGRAMS += slurmkubed
slurmkubed_SOURCES = %D%/main.cc
slurmkubed_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(YAML_CFLAGS) $(JWT_CFLAGS) \
	$(SYSTEMD_CFLAGS) $(SLURM_CPPFLAGS)
slurmkubed_LDADD = libagent.la
