noinst_LTLIBRARIES += libbase.la
libbase_la_SOURCES = \
	%D%/boxed.h \
	%D%/digits.h \
	%D%/guard.h \
	%D%/log.cc \
	%D%/log.h \
	%D%/owned.h \
	%D%/programs.cc \
	%D%/programs.h \
	%D%/result.h \
	%D%/slurm_versions.h \
	%D%/text.cc \
	%D%/text.h \
	%D%/time_units.h
