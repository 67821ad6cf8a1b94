# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/peer.cc \
	%D%/peer.h \
	%D%/rates.cc \
	%D%/rates.h \
	%D%/server.cc \
	%D%/server.h
