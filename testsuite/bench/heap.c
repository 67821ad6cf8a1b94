/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heap.c - preloaded into slurmctld (LD_PRELOAD): counts the bytes that live on its heap, and those
 * allocated by C++.
 *
 * slurmctld is written in C, so operator new is only called by our plugin. Resident memory would
 * include what the allocator keeps between blocks. The counters are int64 values in a mapped file,
 * $HEAP_COUNTERS.PID: all bytes, C++'s bytes, all blocks, C++'s blocks. Needs glibc; used by
 * testsuite/bench/soak.py --heap.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

enum { BYTES, CXX_BYTES, BLOCKS, CXX_BLOCKS, COUNTERS };

static int64_t early[COUNTERS];
static int64_t *counters = early;

/* sign: 1 for a new block, -1 for a freed one. */
static void count(void *block, int bytes, int blocks, int64_t sign)
{
	if (!block)
		return;
	__atomic_fetch_add(
		&counters[bytes], sign * (int64_t)malloc_usable_size(block), __ATOMIC_RELAXED);
	__atomic_fetch_add(&counters[blocks], sign, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void map_counters(void)
{
	char path[4096];
	const char *base = getenv("HEAP_COUNTERS");
	void *mapped;
	int fd, i;

	if (!base ||
		snprintf(path, sizeof(path), "%s.%d", base, (int)getpid()) >= (int)sizeof(path))
		return;
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, 4096) != 0)
		return;
	mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (mapped == MAP_FAILED)
		return;
	for (i = 0; i < COUNTERS; i++)
		((int64_t *)mapped)[i] = early[i];
	counters = mapped;
}

void *malloc(size_t size)
{
	void *block = __libc_malloc(size);

	count(block, BYTES, BLOCKS, 1);
	return block;
}

void *calloc(size_t number, size_t size)
{
	void *block = __libc_calloc(number, size);

	count(block, BYTES, BLOCKS, 1);
	return block;
}

void free(void *block)
{
	count(block, BYTES, BLOCKS, -1);
	__libc_free(block);
}

/* If realloc fails, the old block is unchanged. */
void *realloc(void *block, size_t size)
{
	int64_t before = block ? (int64_t)malloc_usable_size(block) : 0;
	void *moved = __libc_realloc(block, size);
	int64_t after = moved ? (int64_t)malloc_usable_size(moved) : 0;

	if (!moved && size != 0)
		return NULL;
	__atomic_fetch_add(&counters[BYTES], after - before, __ATOMIC_RELAXED);
	__atomic_fetch_add(&counters[BLOCKS], (moved ? 1 : 0) - (block ? 1 : 0), __ATOMIC_RELAXED);
	return moved;
}

void *memalign(size_t alignment, size_t size)
{
	void *block = __libc_memalign(alignment, size);

	count(block, BYTES, BLOCKS, 1);
	return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	*out = memalign(alignment, size);
	return *out ? 0 : 12;
}

/* operator new and delete, by their names in object files. Their blocks count as C++'s and,
 * because they call malloc, also as all blocks. */
void *_Znwm(size_t size);
void *_Znam(size_t size);
void _ZdlPv(void *block);
void _ZdlPvm(void *block, size_t size);
void _ZdaPv(void *block);
void _ZdaPvm(void *block, size_t size);

void *_Znwm(size_t size)
{
	void *block = malloc(size ? size : 1);

	if (!block)
		abort();
	count(block, CXX_BYTES, CXX_BLOCKS, 1);
	return block;
}

void *_Znam(size_t size)
{
	return _Znwm(size);
}

void _ZdlPv(void *block)
{
	count(block, CXX_BYTES, CXX_BLOCKS, -1);
	free(block);
}

void _ZdlPvm(void *block, size_t size)
{
	(void)size;
	_ZdlPv(block);
}

void _ZdaPv(void *block)
{
	_ZdlPv(block);
}

void _ZdaPvm(void *block, size_t size)
{
	(void)size;
	_ZdlPv(block);
}
