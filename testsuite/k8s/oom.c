/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Touches memory until the kernel kills it, for tests of a container that exceeds its limit. */
#include <stdlib.h>
#include <string.h>

int main(void)
{
	for (;;) {
		char *block = malloc(1 << 20);
		if (!block)
			return 9;
		memset(block, 1, 1 << 20);
	}
}
