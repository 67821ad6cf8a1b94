noinst_LTLIBRARIES += libcore.la
libcore_la_SOURCES = \
	%D%/model.cc \
	%D%/model.h \
	%D%/names.h
