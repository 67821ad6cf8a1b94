# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/calls.cc \
	%D%/controller_watch.cc \
	%D%/calls.h \
	%D%/controller_watch.h \
	%D%/compat.h \
	%D%/describe.cc \
	%D%/describe.h \
	%D%/describe_change.cc \
	%D%/describe_refusals.cc \
	%D%/errors.cc \
	%D%/errors.h \
	%D%/figures.h \
	%D%/figures_jobs.cc \
	%D%/figures_nodes.cc \
	%D%/figures_numbers.cc \
	%D%/figures_pages.cc \
	%D%/figures_pages.h \
	%D%/figures_scheduler.cc \
	%D%/figures_text.h \
	%D%/figures_text_jobs.cc \
	%D%/figures_text_jobs.h \
	%D%/figures_text_nodes.cc \
	%D%/figures_text_partitions.cc \
	%D%/figures_text_scheduler.cc \
	%D%/jobs.cc \
	%D%/jobs.h \
	%D%/nodes.cc \
	%D%/nodes.h \
	%D%/partitions.cc \
	%D%/partitions.h \
	%D%/power_saving.cc \
	%D%/power_saving.h \
	%D%/topology.cc \
	%D%/topology.h \
	%D%/workers.cc \
	%D%/workers.h
