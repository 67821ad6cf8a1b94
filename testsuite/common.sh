# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the scripts of the test bed share; sourced, never run. Progress and errors go to stderr,
# results to stdout.
#
# Caches are under SLURM_KUBE_CACHE. Everything there can be deleted at any time and is created
# again. A step that several runs may need at the same time holds a lock file there; flock releases
# the lock however the process ends.

CACHE=${SLURM_KUBE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/slurm-kube}
TESTSUITE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SOURCE=$(dirname "$TESTSUITE")
STARTED=${STARTED:-$(date +%s)}
export CACHE TESTSUITE SOURCE STARTED

# Build dependencies of this project, as Debian package names; the same in Debian 12 and 13.
BUILD_PACKAGES="g++ make autoconf automake libtool pkgconf libcurl4-openssl-dev libjson-c-dev
	libyaml-dev libjwt-dev libssl-dev libmicrohttpd-dev libsystemd-dev libmunge-dev
	libcunit1-dev scdoc"
# Packages that speed up repeated builds.
SPEED_PACKAGES="ccache"
# What compiles for ASan, UBSan and libFuzzer.
CLANG_PACKAGES="clang libclang-rt-14-dev"
# The tools of testsuite/lint/format.py. Only Debian 12's versions of the formatters are accepted.
LINT_PACKAGES="clang-format black flake8 shellcheck"
# Shells that testsuite/component/skube/test_completion.py runs besides bash.
SHELL_PACKAGES="zsh fish"
SLURM_PACKAGES="slurmctld slurmd slurmdbd slurm-client libslurm-dev slurm-wlm-basic-plugins munge"
export BUILD_PACKAGES CLANG_PACKAGES LINT_PACKAGES SHELL_PACKAGES SLURM_PACKAGES SPEED_PACKAGES

say() {
	local s=$(($(date +%s) - STARTED))
	printf '[%02d:%02d] %s\n' $((s / 60)) $((s % 60)) "$*" >&2
}

die() {
	say "$*"
	exit 1
}

# need_space DIR GIB WHAT: ends with an error unless DIR's file system has GIB GiB free for WHAT. A
# full disk shows later as timeouts of tests that have nothing to do with it.
need_space() {
	local free
	mkdir -p "$1"
	free=$(df -k --output=avail "$1" | tail -n 1)
	[ "$free" -ge $(($2 << 20)) ] || die "$3 needs $2 GiB in $1, and only $((free >> 10)) MiB" \
		"are free: please delete something (all of $CACHE can be built again), or name" \
		"another directory by TMPDIR, SLURM_KUBE_WORK, SLURM_KUBE_DEMO or SLURM_KUBE_CACHE"
}

# Holds the lock NAME until this process ends. Prints a message if it has to wait.
lock() {
	mkdir -p "$CACHE"
	exec 9> "$CACHE/.lock-$1"
	flock -n 9 && return
	say "waiting for another run that holds $CACHE/.lock-$1"
	flock 9
}

# with_progress NAME LOG DETAIL COMMAND...: runs COMMAND with its output in LOG. Meanwhile prints
# every 10 s (on a terminal: each second, in place) how long COMMAND has been running, and the
# output of the function DETAIL.
with_progress() {
	local name=$1 log=$2 detail=$3 pid t0 now next=10
	shift 3
	t0=$(date +%s)
	mkdir -p "$(dirname "$log")"
	"$@" > "$log" 2>&1 9>&- &
	pid=$!
	# Ctrl-C does not reach a background process of a script. The second kill lets the caller
	# see that this script was interrupted.
	# shellcheck disable=SC2064
	trap "kill $pid 2> /dev/null; trap - INT TERM; kill -INT $BASHPID" INT TERM
	while kill -0 "$pid" 2> /dev/null; do
		sleep 0.3
		now=$(($(date +%s) - t0))
		if [ -t 2 ]; then
			printf '\r\033[K        %s: %d s, %s' \
				"$name" "$now" "$("$detail" "$log")" >&2
		elif [ "$now" -ge "$next" ]; then
			say "$name: $now s, $("$detail" "$log")"
			next=$((now + 10))
		fi
	done
	trap - INT TERM
	[ -t 2 ] && printf '\r\033[K' >&2
	if wait "$pid"; then return; fi
	say "$name failed; the end of $log:"
	tail -n 25 "$log" >&2
	return 1
}

# A DETAIL for commands that print their progress: their last line, truncated to fit.
last_line() { tail -n 1 "$1" 2> /dev/null | tr -d '\r' | cut -c 1-100; }

# need_packages NAME...: installs the missing ones of these Debian packages, and prints their names.
# Needs root for that.
need_packages() {
	local p missing=()
	command -v dpkg-query > /dev/null ||
		die "not a Debian system: please install what these Debian packages contain: $*"
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2> /dev/null)" = installed ] ||
			missing+=("$p")
	done
	[ ${#missing[@]} -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] ||
		die "please install as root: apt-get install --no-install-recommends ${missing[*]}"
	say "installing with apt-get: ${missing[*]}"
	install_packages "${missing[@]}"
}

# The package lists may be missing (in container images) or old, so apt-get update runs before an
# error is reported. apt-get fails if another one runs, so programs beside each other take turns.
install_packages() {
	mkdir -p "$CACHE/log"
	(flock 9 && install_packages_now "$@" 9>&-) 9> "$CACHE/log/apt.lock"
}

install_packages_now() {
	local log=$CACHE/log/apt-install.log
	export DEBIAN_FRONTEND=noninteractive
	quiet_daemons ""
	with_progress "apt-get update" "$CACHE/log/apt-update.log" last_line \
		apt-get -qq update || return 1
	with_progress "apt-get install" "$log" last_line \
		apt-get -y -qq install --no-install-recommends "$@"
}

# Installed packages must not start daemons, because the tests run private ones. An administrator's
# own policy is left unchanged.
quiet_daemons() {
	local policy=$1/usr/sbin/policy-rc.d
	[ -e "$policy" ] && return
	printf '%s\n' '#!/bin/sh' '# slurm-kube test bed: installed packages start no daemon' \
		'exit 101' > "$policy"
	chmod 755 "$policy"
}
