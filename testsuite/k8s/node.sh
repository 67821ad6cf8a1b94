# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What node-up, node-down, node-restart and node-can share: the names and addresses of a node.
# Sourced after common.sh.
#
# All of them derive from the port of the node's control plane, so that two test beds on one machine
# do not collide: the bridge, the cgroup, the node addresses 10.250.X.NUMBER (on lo) and the pod
# network 10.251.X.0/24, of which each node has 31 addresses.
#
# shellcheck disable=SC2034 # the scripts that source this file use most variables

NODE=$CACHE/node
RUNTIME=${SLURM_KUBE_RUNTIME:-containerd} # or crio
CGROUPS=/sys/fs/cgroup
SYSCTLS="vm.overcommit_memory kernel.panic kernel.panic_on_oops vm.panic_on_oom"
SYSCTL_BEFORE=/run/slurm-kube-test.sysctl

name_node() { # control plane directory, node name, number
	# shellcheck disable=SC1091
	PORTBASE=$(. "$1/settings" && echo "$PORTBASE")
	NAME=$2 NUMBER=$3
	NET=$((PORTBASE / 10 % 250))
	ADDRESS=10.250.$NET.$NUMBER
	BRIDGE=skt$PORTBASE
	CGROUP=slurm-kube-$PORTBASE-$NAME
	PODS_FIRST=10.251.$NET.$((NUMBER * 32 + 1)) PODS_LAST=10.251.$NET.$((NUMBER * 32 + 31))
}

cgroup_v2() { [ "$(stat -fc %T $CGROUPS)" = cgroup2fs ]; }

# The mounted hierarchies: one of version 2, or one per controller of version 1.
hierarchies() {
	if cgroup_v2; then
		echo $CGROUPS
		return
	fi
	local h
	for h in "$CGROUPS"/*/; do
		if [ "$(stat -fc %T "$h")" = cgroupfs ]; then echo "${h%/}"; fi
	done
}

nodes_left() {
	compgen -G "$CGROUPS/slurm-kube-$1*" > /dev/null ||
		compgen -G "$CGROUPS/*/slurm-kube-$1*" > /dev/null
}

# Network and sysctls belong to the whole machine, so only one script changes them at a time.
lock_machine() {
	exec 8> /run/slurm-kube-test.lock
	flock 8
}
unlock_machine() { exec 8>&-; }
