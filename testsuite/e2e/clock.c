/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clock.c - preloaded into the agent: sets its wall clock ahead by the number of seconds in the
 * file named by CLOCK_FILE, which is read at each call.
 *
 * The machine's clock belongs to all processes, so a clock step is tried on one process only. The
 * monotonic clock stays unchanged.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void)
{
	char text[32] = "";
	const char *name = getenv("CLOCK_FILE");
	int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	static int (*real)(clockid_t, struct timespec *);

	if (!real)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int rc = real(clock, out);

	if (rc == 0 && clock == CLOCK_REALTIME)
		out->tv_sec += ahead();
	return rc;
}

time_t time(time_t *out)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}

int gettimeofday(struct timeval *out, void *zone)
{
	struct timespec now;

	(void)zone;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	out->tv_sec = now.tv_sec;
	out->tv_usec = now.tv_nsec / 1000;
	return 0;
}
