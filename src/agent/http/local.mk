# added to libagent by src/agent/local.mk
agent_files += \
	%D%/address.cc \
	%D%/address.h \
	%D%/key_pair.cc \
	%D%/key_pair.h \
	%D%/server.cc \
	%D%/server.h
