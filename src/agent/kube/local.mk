# added to libagent by src/agent/local.mk
libagent_la_SOURCES += \
	%D%/access.h \
	%D%/certificates.cc \
	%D%/certificates.h \
	%D%/client.cc \
	%D%/client.h \
	%D%/credentials.cc \
	%D%/credentials.h \
	%D%/curl_versions.h \
	%D%/files.cc \
	%D%/files.h \
	%D%/in_cluster.cc \
	%D%/kubeconfig.cc \
	%D%/multi.cc \
	%D%/multi.h \
	%D%/queries.cc \
	%D%/requests.cc \
	%D%/requests.h \
	%D%/server_time.cc \
	%D%/server_time.h \
	%D%/session.h \
	%D%/status.cc \
	%D%/streams.cc \
	%D%/streams.h \
	%D%/token.cc \
	%D%/token.h \
	%D%/token_renewal.cc \
	%D%/token_renewal.h \
	%D%/transfer.cc \
	%D%/transfer.h \
	%D%/watch.cc \
	%D%/watch.h \
	%D%/writes.cc \
	%D%/writes.h \
	%D%/yaml_text.cc \
	%D%/yaml_text.h
