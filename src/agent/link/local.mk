agent_files += \
	%D%/server.cc \
	%D%/server.h
