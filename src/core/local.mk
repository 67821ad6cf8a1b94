noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES = \
	%D%/backoff.cc \
	%D%/backoff.h \
	%D%/identity_rules.cc \
	%D%/identity_rules.h \
	%D%/label_selector.cc \
	%D%/label_selector.h \
	%D%/latency.cc \
	%D%/latency.h \
	%D%/model.h \
	%D%/names.h \
	%D%/node_sync.cc \
	%D%/node_sync.h \
	%D%/occupancy.cc \
	%D%/occupancy.h \
	%D%/outcome.cc \
	%D%/outcome.h \
	%D%/quantity.cc \
	%D%/quantity.h \
	%D%/reconcile.cc \
	%D%/reconcile.h \
	%D%/report.cc \
	%D%/report.h \
	%D%/spec.h \
	%D%/timelimit.cc \
	%D%/timelimit.h \
	%D%/translate.cc \
	%D%/translate.h \
	%D%/world.h \
	%D%/world_act.cc \
	%D%/world_answer.cc \
	%D%/world_identity.cc \
	%D%/world_observe.cc
