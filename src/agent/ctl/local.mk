# added to libagent by src/agent/local.mk
agent_files += \
	%D%/peer.cc \
	%D%/peer.h \
	%D%/rates.cc \
	%D%/rates.h \
	%D%/server.cc \
	%D%/server.h
