# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/server.cc \
	%D%/server.h
