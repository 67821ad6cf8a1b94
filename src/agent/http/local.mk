# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/address.cc \
	%D%/address.h \
	%D%/server.cc \
	%D%/server.h
