noinst_LTLIBRARIES += libcodec.la
codec_files = \
	%D%/amounts.cc \
	%D%/amounts.h \
	%D%/base64.cc \
	%D%/base64.h \
	%D%/claim.cc \
	%D%/claim.h \
	%D%/scheduling_constraints.cc \
	%D%/scheduling_constraints.h \
	%D%/fields.cc \
	%D%/fields.h \
	%D%/frames.cc \
	%D%/frames.h \
	%D%/json.cc \
	%D%/json.h \
	%D%/kube_writes.cc \
	%D%/kube_writes.h \
	%D%/extended_claim.cc \
	%D%/extended_claim.h \
	%D%/lease.cc \
	%D%/lease.h \
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
	%D%/metrics_text.cc \
	%D%/metrics_text.h \
	%D%/namespace.cc \
	%D%/namespace.h \
	%D%/node.cc \
	%D%/node.h \
	%D%/owner.cc \
	%D%/owner.h \
	%D%/pod.cc \
	%D%/pod.h \
	%D%/pod_devices.cc \
	%D%/pod_placement.cc \
	%D%/pod_requests.cc \
	%D%/pod_schema.cc \
	%D%/pod_schema.h \
	%D%/protobuf.cc \
	%D%/protobuf.h \
	%D%/proto_schema.cc \
	%D%/proto_schema.h \
	%D%/resource_slice.cc \
	%D%/resource_slice.h \
	%D%/resource_claim.cc \
	%D%/resource_claim.h \
	%D%/resource_claim_patches.cc \
	%D%/time.cc \
	%D%/time.h \
	%D%/view.h \
	%D%/wire.cc \
	%D%/wire.h

EXTRA_DIST += $(codec_files)
codec_units = \
	%D%/unity/codec_1_of_2.cc \
	%D%/unity/codec_2_of_2.cc
CLEANFILES += $(codec_units)
$(codec_units): src/codec/local.mk src/unity
	$(AM_V_GEN)$(srcdir)/src/unity $@ $(codec_files)
if UNITY
nodist_libcodec_la_SOURCES = $(codec_units)
else
nodist_libcodec_la_SOURCES = $(codec_files)
endif
libcodec_la_SOURCES =
libcodec_la_LIBADD = $(JSON_C_LIBS)
