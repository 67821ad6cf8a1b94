libagent_la_SOURCES += \
	%D%/server.cc \
	%D%/server.h
