noinst_LTLIBRARIES += libagent.la
libagent_la_SOURCES = \
	%D%/loop.cc \
	%D%/loop.h
libagent_la_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS) $(YAML_CFLAGS) $(JWT_CFLAGS) $(SYSTEMD_CFLAGS) $(SLURM_CPPFLAGS)
libagent_la_LIBADD = libcodec.la libcore.la libbase.la $(CURL_LIBS) $(YAML_LIBS) $(JWT_LIBS) $(SYSTEMD_LIBS) $(SLURM_LIBS)
include %D%/kube/local.mk
include %D%/slurm/local.mk
include %D%/link/local.mk
include %D%/ctl/local.mk
