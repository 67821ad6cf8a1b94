# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# How the tests of packages compile: without optimization and debug information, which take most of
# the time and are not tested, with our compiler cache, and with the same flags for all kinds of
# packages, so that each file is compiled once.

# COMMAND...
with_ccache() {
	mkdir -p "$CACHE/ccache"
	env DEB_BUILD_OPTIONS="nocheck noopt noautodbgsym" \
		DEB_CFLAGS_APPEND=-g0 DEB_CXXFLAGS_APPEND=-g0 \
		CC="ccache gcc" CXX="ccache g++" CCACHE_DIR="$CACHE/ccache" CCACHE_NOHASHDIR=1 \
		CCACHE_COMPILERCHECK=content CCACHE_SLOPPINESS=locale \
		CCACHE_MAXSIZE="${CCACHE_MAXSIZE:-4G}" "$@"
}

# NAME: the value that dpkg-buildpackage gives to a variable, CXXFLAGS for example.
flags_of_debs() { with_ccache dpkg-buildflags --get "$1"; }
