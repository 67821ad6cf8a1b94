# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/calls.cc \
	%D%/calls.h \
	%D%/compat.h \
	%D%/describe.cc \
	%D%/describe.h \
	%D%/describe_change.cc \
	%D%/describe_refusals.cc \
	%D%/errors.cc \
	%D%/errors.h \
	%D%/jobs.cc \
	%D%/jobs.h \
	%D%/nodes.cc \
	%D%/nodes.h \
	%D%/partitions.cc \
	%D%/partitions.h \
	%D%/workers.cc \
	%D%/workers.h
