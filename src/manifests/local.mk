noinst_LTLIBRARIES += libmanifests.la
libmanifests_la_SOURCES = \
	%D%/dashboards.cc \
	%D%/dashboards.h \
	%D%/flow_control.cc \
	%D%/flow_control.h \
	%D%/manifests.cc \
	%D%/manifests.h \
	%D%/option_policy.cc \
	%D%/option_policy.h \
	%D%/policies.cc \
	%D%/policies.h \
	%D%/rights.cc \
	%D%/rights.h \
	%D%/site.cc \
	%D%/site.h

# skube prints the dashboards on hosts that have no other file of ours.
dashboards = contribs/monitoring/dashboard.json
CLEANFILES += %D%/dashboards.inc
%D%/dashboards.lo: %D%/dashboards.inc
%D%/dashboards.inc: $(dashboards) %D%/local.mk
	$(AM_V_GEN)$(MKDIR_P) %D% && for file in $(dashboards); do \
		printf '{"%s", R"json(' "$$(basename $$file)" && \
		cat $(srcdir)/$$file && printf ')json"},\n' || exit 1; \
	done > $@.new && mv $@.new $@
