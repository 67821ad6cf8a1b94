noinst_LTLIBRARIES += libcodec.la
libcodec_la_SOURCES = \
	%D%/json.cc \
	%D%/json.h
libcodec_la_LIBADD = $(JSON_C_LIBS)
