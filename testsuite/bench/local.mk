# what testsuite/bench/bench.py writes to the API server with
check_PROGRAMS += testsuite/bench/load
testsuite_bench_load_SOURCES = testsuite/bench/load.cc
testsuite_bench_load_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS)
testsuite_bench_load_LDADD = libagent.la libcodec.la libcore.la libbase.la
