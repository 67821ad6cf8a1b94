# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/access.h \
	%D%/bind.cc \
	%D%/client.cc \
	%D%/client.h \
	%D%/files.cc \
	%D%/files.h \
	%D%/in_cluster.cc \
	%D%/kubeconfig.cc \
	%D%/multi.cc \
	%D%/multi.h \
	%D%/option_policy.cc \
	%D%/option_policy.h \
	%D%/policies.cc \
	%D%/policies.h \
	%D%/queries.cc \
	%D%/requests.cc \
	%D%/requests.h \
	%D%/rights.cc \
	%D%/rights.h \
	%D%/server_time.cc \
	%D%/server_time.h \
	%D%/session.h \
	%D%/status.cc \
	%D%/streams.cc \
	%D%/streams.h \
	%D%/token.cc \
	%D%/token.h \
	%D%/transfer.cc \
	%D%/transfer.h \
	%D%/watch.cc \
	%D%/watch.h \
	%D%/writes.cc \
	%D%/writes.h \
	%D%/yaml_text.cc \
	%D%/yaml_text.h
