# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What nodes with CRI-O need, for SLURM_KUBE_RUNTIME=crio; sourced by build. crio and copyimg, which
# puts images into CRI-O's storage, are built without C libraries, so without seccomp. pinns is a C
# file of the same module. conmon, which watches a container, is unpacked from its Debian package.

CRIO_MODULE=github.com/cri-o/cri-o
# shellcheck disable=SC2034 # for build
CRIO_TAGS="containers_image_ostree_stub containers_image_openpgp exclude_graphdriver_btrfs"
# Its go.mod names pre-releases, which the module proxy does not serve. v0.36.2 has another type for
# the values of environments.
CRIO_K8S=v0.36.1

crio_module() {
	is_module crio "$1" && return
	plain_module crio $CRIO_MODULE "$1"
	sed -i "s/^\(\s*k8s\.io\/.* \)v0\.36\.0-rc\.[0-9]*/\1$CRIO_K8S/" "$SRC/crio/go.mod"
}

crio_package() {
	case $1 in
	copyimg) echo $CRIO_MODULE/test/copyimg ;;
	*) echo $CRIO_MODULE/cmd/crio ;;
	esac
}

build_pinns() {
	local dir
	dir=$(env -C "$SRC/crio" GOMODCACHE="$CACHE/k8s/gomod" GOFLAGS=-mod=mod \
		go list -m -f '{{.Dir}}' $CRIO_MODULE)
	gcc -std=c99 -Os -static -o "$NODE/bin/pinns" "$dir"/pinns/src/*.c
}

unpack_conmon() {
	say "conmon out of a Debian package"
	with_progress "apt-get download" "$CACHE/log/conmon-package.log" last_line \
		env -C "$NODE/deb" apt-get -o APT::Sandbox::User=root download conmon || exit 1
	dpkg -x "$NODE"/deb/conmon_*.deb "$NODE/root"
}

crio_companions() {
	need_packages libglib2.0-0 util-linux # conmon's library, taskset
	[ -x "$NODE/root/usr/bin/conmon" ] || unpack_conmon
	[ -x "$NODE/bin/pinns" ] && return
	find_go
	build_pinns
}
