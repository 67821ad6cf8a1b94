# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The Debian packages of this tree, for the programs that install them; sourced after common.sh,
# tap.sh and chroot.sh. $out is where they are: PACKAGES=DIR, or below the build directory $1, where
# the next program finds them. For another release than this machine's they are built in a chroot.
# shellcheck disable=SC2034,SC2154 # for the scripts that source this file, and from chroot.sh

# shellcheck source-path=SCRIPTDIR source=compiled.sh
. "$TESTSUITE/packages/compiled.sh"
out=${PACKAGES:-${1:-$work}/packages}
[ "$suite" = "$host_suite" ] || out=${PACKAGES:-${1:-$work}/packages-$suite}

# A copy of the chroot in which testsuite/slurm/build compiles, because packages are added to it.
make_build_root() {
	local SLURM_ROOT SLURM_SRC
	build_root=$work/build-root
	eval "$("$TESTSUITE/slurm/get" "$got")"
	slurm_src=$SLURM_SRC
	[ -d "$build_root" ] || cp -a --reflink=auto "$SLURM_ROOT" "$build_root"
}

# build-packages with our compiler cache; arguments: its own
build_packages() {
	if [ "$suite" = "$host_suite" ]; then
		with_ccache "$SOURCE/contribs/build-packages" "$@"
		return
	fi
	make_build_root
	mkdir -p "$work" "${out%/*}"
	BARE_ROOT=1 with_ccache "$TESTSUITE/slurm/in-root" -b "$SOURCE" -b "$CACHE/ccache" \
		-b "$work" -b "${out%/*}" "$build_root" env -u TMPDIR \
		"$SOURCE/contribs/build-packages" --slurm-src "$slurm_src" "$@"
}

# Builds them into $out, if they are not there.
have_packages() {
	compgen -G "$out/slurm-kube-agent_*.deb" > /dev/null || build_packages "$out"
}
