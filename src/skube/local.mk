bin_PROGRAMS += skube
noinst_LTLIBRARIES += libskube.la
libskube_la_SOURCES = \
	%D%/request.cc \
	%D%/request.h \
	%D%/table.cc \
	%D%/table.h \
	%D%/views.cc \
	%D%/views.h
libskube_la_LIBADD = libcodec.la libcore.la libbase.la
skube_SOURCES = %D%/main.cc
skube_LDADD = libskube.la
