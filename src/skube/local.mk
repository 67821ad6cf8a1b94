bin_PROGRAMS += skube
noinst_LTLIBRARIES += libskube.la
libskube_la_SOURCES =
skube_files = \
	%D%/config_value.cc \
	%D%/config_value.h \
	%D%/event_lines.cc \
	%D%/event_lines.h \
	%D%/event_text.cc \
	%D%/event_text.h \
	%D%/kubeconfig.cc \
	%D%/kubeconfig.h \
	%D%/list.cc \
	%D%/list.h \
	%D%/list_columns.cc \
	%D%/list_request.cc \
	%D%/list_request.h \
	%D%/local_commands.cc \
	%D%/local_commands.h \
	%D%/manifests.cc \
	%D%/manifests.h \
	%D%/options.cc \
	%D%/options.h \
	%D%/node_file.cc \
	%D%/node_file.h \
	%D%/node_setup.cc \
	%D%/node_setup.h \
	%D%/printed.h \
	%D%/request.cc \
	%D%/request.h \
	%D%/job_hold.cc \
	%D%/job_hold.h \
	%D%/logs.cc \
	%D%/logs.h \
	%D%/node_drain.cc \
	%D%/node_drain.h \
	%D%/releases.cc \
	%D%/releases.h \
	%D%/target.cc \
	%D%/target.h \
	%D%/selftest.cc \
	%D%/selftest.h \
	%D%/selftest_steps.cc \
	%D%/selftest_steps.h \
	%D%/socket_path.cc \
	%D%/socket_path.h \
	%D%/table.cc \
	%D%/table.h \
	%D%/migrate.cc \
	%D%/migrate.h \
	%D%/migrate_ask.cc \
	%D%/migrate_plan.cc \
	%D%/plan.cc \
	%D%/plan.h \
	%D%/asker.h \
	%D%/rows.h \
	%D%/sunk.h \
	%D%/sunk_ask.cc \
	%D%/sunk_plan.cc \
	%D%/teardown.cc \
	%D%/teardown.h \
	%D%/teardown_ask.cc \
	%D%/teardown_ask_slurm.cc \
	%D%/teardown_parts.h \
	%D%/teardown_plan.cc \
	%D%/terminal.cc \
	%D%/terminal.h \
	%D%/top.cc \
	%D%/top.h \
	%D%/views.cc \
	%D%/views.h \
	%D%/watch.cc \
	%D%/watch.h \
	%D%/watch_events.cc \
	%D%/watch_events.h \
	%D%/yaml.cc \
	%D%/yaml.h
EXTRA_DIST += $(skube_files)
skube_units = \
	%D%/unity/skube_1_of_2.cc \
	%D%/unity/skube_2_of_2.cc
CLEANFILES += $(skube_units)
$(skube_units): src/skube/local.mk src/unity
	$(AM_V_GEN)$(srcdir)/src/unity $@ $(skube_files)
if UNITY
nodist_libskube_la_SOURCES = $(skube_units)
else
nodist_libskube_la_SOURCES = $(skube_files)
endif
libskube_la_CPPFLAGS = $(AM_CPPFLAGS) $(YAML_CFLAGS)
libskube_la_LIBADD = libmanifests.la libcodec.la libcore.la libbase.la $(YAML_LIBS)
skube_SOURCES = %D%/main.cc
skube_LDADD = libskube.la

# skube prints the scripts of slurmd and CRI-O's hook on hosts that have no other file of ours.
node_pieces = etc/50-slurm-kube etc/prolog.d/50-slurm-kube etc/50-slurm-kube.json
CLEANFILES += %D%/node_pieces.inc
$(libskube_la_OBJECTS): %D%/node_pieces.inc
%D%/node_pieces.inc: $(node_pieces) %D%/local.mk
	$(AM_V_GEN)$(MKDIR_P) %D% && for file in $(node_pieces); do \
		printf 'R"sh(' && cat $$file && printf ')sh",\n' || exit 1; \
	done > $@.new && mv $@.new $@
