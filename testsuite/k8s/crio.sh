# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The configuration of CRI-O for a node of the test bed (SLURM_KUBE_RUNTIME=crio); sourced by
# node-up.

# CRI-O has nothing like containerd's restrict_oom_score_adj, and sets limits of huge pages although
# runc does not find the controller.
write_runc() {
	cat > "$D/runc" <<-PYTHON
		#!/usr/bin/env python3
		import json, os, sys
		runc, words = "$NODE/root/usr/sbin/runc", sys.argv[1:]
		own = int(open("/proc/self/oom_score_adj").read())
		if "--bundle" in words:
		    file = words[words.index("--bundle") + 1] + "/config.json"
		    spec = json.load(open(file))
		    spec["linux"]["resources"].pop("hugepageLimits", None)
		    process = spec["process"]
		    if "$(restricted_oom)" == "true" and process.get("oomScoreAdj", own) < own:
		        process["oomScoreAdj"] = own
		    with open(file, "w") as out:
		        json.dump(spec, out)
		os.execv(runc, [runc, *words])
	PYTHON
	chmod 755 "$D/runc"
}

write_crio() {
	[ "$SNAPSHOTTER" != native ] || SNAPSHOTTER=vfs
	[ "$SNAPSHOTTER" != overlayfs ] || SNAPSHOTTER=overlay
	mkdir -p "$D"/{crio.conf.d,crio-hooks}
	write_runc
	echo '{"default": [{"type": "insecureAcceptAnything"}]}' > "$D/policy.json"
	cat > "$D/crio.conf" <<-TOML
		[crio]
		root = "$D/crio"
		runroot = "/run/crio/storage"
		storage_driver = "$SNAPSHOTTER"
		log_dir = "/var/log/pods"
		version_file = "/run/crio/version"
		clean_shutdown_file = "$D/crio/clean.shutdown"
		[crio.api]
		listen = "/run/crio/crio.sock"
		stream_address = "127.0.0.1"
		stream_port = "0"
		[crio.runtime]
		cgroup_manager = "cgroupfs"
		default_runtime = "runc"
		pinns_path = "$NODE/bin/pinns"
		namespaces_dir = "/run/crio/namespaces"
		container_exits_dir = "/run/crio/exits"
		container_attach_socket_dir = "/run/crio/attach"
		hooks_dir = ["$D/crio-hooks"]
		cdi_spec_dirs = ["/run/cdi"]
		disable_hostport_mapping = true
		[crio.runtime.runtimes.runc]
		runtime_path = "$D/runc"
		runtime_root = "/run/crio/runc"
		monitor_path = "$NODE/root/usr/bin/conmon"
		monitor_env = ["PATH=$PATH"]
		[crio.image]
		pause_image = "docker.io/slurm-kube/pause:1"
		pause_command = "/pause"
		signature_policy = "$D/policy.json"
		[crio.network]
		network_dir = "$D/cni"
		plugin_dirs = ["$NODE/root/usr/lib/cni"]
	TOML
}

# The files of doc/hybrid.md, with this node's socket and folder of hooks.
write_hybrid_crio() {
	[ -n "${SYSTEM_CPUS:-}" ] || return 0
	local setup=("${SKUBE:?}" node-setup --system-cpus "$SYSTEM_CPUS" --only)
	"${setup[@]}" crio > "$D/crio.conf.d/50-slurm-kube.conf"
	"${setup[@]}" crio-hook | sed "s|\"--confined\"|&, \"--config=${D%/*}/node.conf\"|" \
		> "$D/crio-hooks/50-slurm-kube.json"
	[ -z "${CREATE_HOOK:-}" ] || cat > "$D/crio-hooks/90-own.json" <<-JSON
		{"version": "1.0.0", "hook": {"path": "$CREATE_HOOK"},
		 "when": {"always": true}, "stages": ["createRuntime"]}
	JSON
	cat > "$D/crio.conf.d/60-own.conf" <<-TOML
		[crio.runtime]
		hooks_dir = ["$D/crio-hooks"]
		[crio.nri]
		nri_listen = "$D/run/nri.sock"
		nri_plugin_dir = "$D/run/nri-plugins"
		nri_plugin_config_dir = "$D/run/nri-conf"
	TOML
}
