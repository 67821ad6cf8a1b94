# added to libagent by src/agent/local.mk
agent_files += \
	%D%/hub.cc \
	%D%/hub.h \
	%D%/objects.h \
	%D%/table.cc \
	%D%/table.h \
	%D%/watched_world.cc \
	%D%/watched_world.h
