# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/address.cc \
	%D%/address.h \
	%D%/key_pair.cc \
	%D%/key_pair.h \
	%D%/server.cc \
	%D%/server.h
