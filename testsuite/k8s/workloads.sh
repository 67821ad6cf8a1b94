# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Controllers of workloads that are not part of Kubernetes: the managers of JobSet and
# LeaderWorkerSet, and the CRDs of other kinds, without a controller. The first half of this file is
# for build, the second for up and restart (components.sh).
#
# CRDs and webhooks are taken from the module archives into the cache. The webhooks stay enabled,
# because JobSet's webhook sets some of the fields of its pods. In a cluster the webhooks are a
# Service with a certificate that the manager creates. Here the API server calls 127.0.0.1, and the
# certificate is the API server's own.

JOBSET=${JOBSET:-v0.10.1}
LWS=${LWS:-v0.7.0}
WORKLOADS_RECIPE=1 # increment it when workload_files changes
WORKLOADS_DIR=$CACHE/k8s/workloads

# Kinds that have only a CRD here: the tests create their pods as the controllers do. Each line:
# module, version, file in its archive
crd_only="sigs.k8s.io/scheduler-plugins v0.31.8 config/crd/bases/scheduling.x-k8s.io_podgroups.yaml
github.com/kubeflow/mpi-operator v0.6.0 manifests/base/kubeflow.org_mpijobs.yaml
github.com/kubeflow/training-operator v1.8.1 manifests/base/crds/kubeflow.org_pytorchjobs.yaml
github.com/kubeflow/trainer/v2 v2.0.0 manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml
github.com/ray-project/kuberay/ray-operator v1.4.2 config/crd/bases/ray.io_rayclusters.yaml"

workloads_version() { echo "$WORKLOADS_RECIPE $JOBSET $LWS $crd_only" | cksum; }

have_workload_files() {
	[ "$(cat "$WORKLOADS_DIR/.version" 2> /dev/null)" = "$(workloads_version)" ]
}

# The unpacked archive of module $1 at version $2.
module_dir() {
	local json
	json=$(cd "$SRC" && go mod download -json "$1@$2" < /dev/null) ||
		die "module $1 $2 cannot be had from the Go module proxy: $json"
	echo "$json" | sed -n 's/.*"Dir": "\(.*\)",*/\1/p'
}

# The webhook configuration that kustomize makes of folder $2 of a module, for manager $1: without
# its Service, with the words PORT and CA to be replaced.
webhooks_of() {
	local copy=$SRC/webhooks-$1
	rm -rf "$copy"
	cp -r --no-preserve=mode "$2" "$copy"
	"$BIN/kubectl" kustomize "$copy" | awk -v name="$1" '
		BEGIN {
			RS = "---\n"
			service = "\n    service:\n      name: [^\n]*\n      namespace: [^\n]*\n" \
				"      path: "
		}
		/\nkind: Service\n/ { next }
		{
			gsub(service, "\n    caBundle: CA\n    url: https://127.0.0.1:PORT")
			sub(/\n  name: /, "\n  name: " name "-")
			print "---\n" $0
		}' > "$WORKLOADS_DIR/$1-webhooks.yaml"
	grep -q 'url: https' "$WORKLOADS_DIR/$1-webhooks.yaml" ||
		die "$2 has no webhooks of a shape that is known here"
}

workload_files() {
	local module version file jobset lws
	have_workload_files && return
	say "CRDs and webhooks of workloads out of module archives"
	rm -rf "$WORKLOADS_DIR"
	mkdir -p "$WORKLOADS_DIR/crds"
	jobset=$(module_dir sigs.k8s.io/jobset "$JOBSET")
	lws=$(module_dir sigs.k8s.io/lws "$LWS")
	cp "$jobset"/config/components/crd/bases/*.yaml "$lws"/config/crd/bases/*.yaml \
		"$WORKLOADS_DIR/crds/"
	while read -r module version file; do
		cp "$(module_dir "$module" "$version")/$file" "$WORKLOADS_DIR/crds/"
	done <<< "$crd_only"
	chmod -R u+w "$WORKLOADS_DIR"
	webhooks_of jobset "$jobset/config/components/webhook"
	webhooks_of lws "$lws/config/webhook"
	workloads_version > "$WORKLOADS_DIR/.version"
}

# ---- while a control plane runs: PORTBASE+10 to +13, webhooks and health of each manager ----

WORKLOAD_MANAGERS="jobset-manager lws-manager"

webhook_port() {
	if [ "$1" = jobset ]; then echo $((PORTBASE + 10)); else echo $((PORTBASE + 12)); fi
}

# Settings by which manager $1 serves webhooks with the API server's certificate, on loopback.
manager_settings() {
	local port
	port=$(webhook_port "$1")
	mkdir -p "$D/pki/webhooks"
	cp "$D/pki/server.crt" "$D/pki/webhooks/tls.crt"
	cp "$D/pki/server.key" "$D/pki/webhooks/tls.key"
	cat > "$D/$1-manager.yaml" <<-YAML
		apiVersion: config.$1.x-k8s.io/v1alpha1
		kind: Configuration
		webhook: {host: 127.0.0.1, port: $port, certDir: "$D/pki/webhooks"}
		health: {healthProbeBindAddress: "127.0.0.1:$((port + 1))"}
		metrics: {bindAddress: "0"}
		leaderElection: {leaderElect: false}
		internalCertManagement: {enable: false}
		clientConnection: {qps: 500, burst: 500}
	YAML
}

command_manager() {
	manager_settings "$1"
	# shellcheck disable=SC2034 # used by launch
	command=("$(program "$1-manager")" --kubeconfig "$D/admin.kubeconfig"
		--config "$D/$1-manager.yaml" --zap-log-level info)
}
command_jobset_manager() { command_manager jobset; }
command_lws_manager() { command_manager lws; }

# The manager's health does not cover its webhooks, so a webhook is called, too: any answer is
# accepted.
ready_manager() {
	local port
	port=$(webhook_port "$1")
	curl -s --max-time 5 -o /dev/null -f "http://127.0.0.1:$((port + 1))/readyz" &&
		curl -s --max-time 5 -o /dev/null --cacert "$D/pki/ca.crt" \
			"https://127.0.0.1:$port/"
}
ready_jobset_manager() { ready_manager jobset; }
ready_lws_manager() { ready_manager lws; }

# The API server must know the kinds before their managers start. The apply is server-side, because
# these CRDs are too large for the annotation of a client-side one.
install_crds() {
	have_workload_files ||
		die "no workload controllers: run testsuite/k8s/build --workloads first"
	local kubectl=("$(program kubectl)" --kubeconfig "$D/admin.kubeconfig")
	if ! {
		"${kubectl[@]}" apply --server-side --validate=false -f "$WORKLOADS_DIR/crds" &&
			"${kubectl[@]}" wait --for condition=established --timeout 180s \
				-f "$WORKLOADS_DIR/crds"
	} > "$D/log/workloads.log" 2>&1; then
		die "CRDs were not taken; see $D/log/workloads.log"
	fi
}

# Called only when the managers' servers listen: a webhook that does not answer blocks the creation
# of pods.
install_webhooks() {
	local m ca
	ca=$(base64 -w 0 "$D/pki/ca.crt")
	for m in jobset lws; do
		sed "s|PORT|$(webhook_port $m)|; s|caBundle: CA|caBundle: $ca|" \
			"$WORKLOADS_DIR/$m-webhooks.yaml"
	done | "$(program kubectl)" --kubeconfig "$D/admin.kubeconfig" \
		apply --validate=false -f - >> "$D/log/workloads.log" 2>&1 ||
		die "webhooks were not taken; see $D/log/workloads.log"
}

start_workloads() {
	local m
	for m in $WORKLOAD_MANAGERS; do launch "$m"; done
	for m in $WORKLOAD_MANAGERS; do await "$m"; done
	install_webhooks
}
