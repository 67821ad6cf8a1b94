noinst_LTLIBRARIES += libcodec.la
libcodec_la_SOURCES = \
	%D%/amounts.cc \
	%D%/amounts.h \
	%D%/base64.cc \
	%D%/base64.h \
	%D%/claim.cc \
	%D%/claim.h \
	%D%/demands.cc \
	%D%/demands.h \
	%D%/fields.cc \
	%D%/fields.h \
	%D%/json.cc \
	%D%/json.h \
	%D%/kube_writes.cc \
	%D%/kube_writes.h \
	%D%/lines.cc \
	%D%/lines.h \
	%D%/link.h \
	%D%/link_decode.cc \
	%D%/link_encode.cc \
	%D%/link_names.cc \
	%D%/list_page.cc \
	%D%/list_page.h \
	%D%/managed_fields.cc \
	%D%/managed_fields.h \
	%D%/marker.cc \
	%D%/marker.h \
	%D%/namespace.cc \
	%D%/namespace.h \
	%D%/node.cc \
	%D%/node.h \
	%D%/owner.cc \
	%D%/owner.h \
	%D%/pod.cc \
	%D%/pod.h \
	%D%/pod_placement.cc \
	%D%/pod_requests.cc \
	%D%/time.cc \
	%D%/time.h
libcodec_la_LIBADD = $(JSON_C_LIBS)
