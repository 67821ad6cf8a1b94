# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# The programs of a private control plane: the command that starts each of them, the check that it
# is ready, and how it is stopped. Sourced by up, down and restart. Needs D, the directory of the
# control plane. D/settings holds all other settings, so that a restart uses the same ones as the
# start.

# shellcheck source-path=SCRIPTDIR source=workloads.sh
. "$TESTSUITE/k8s/workloads.sh"

# shellcheck disable=SC2034 # for restart
COMPONENTS="etcd kube-apiserver kube-controller-manager kwok $WORKLOAD_MANAGERS"

program() {
	if [ "$1" != kwok ] && [ -x "${KUBEBUILDER_ASSETS:-/nonexistent}/$1" ]; then
		echo "$KUBEBUILDER_ASSETS/$1"
	else
		echo "$CACHE/k8s/bin/$1"
	fi
}

# Each function command_* sets the array command. The ports, all on 127.0.0.1: +0 API server, +1 and
# +2 etcd, +3 controller manager, +4 kwok, +10 to +13 managers of workloads.
command_etcd() {
	local client=http://127.0.0.1:$((PORTBASE + 1)) peer=http://127.0.0.1:$((PORTBASE + 2))
	command=("$(program etcd)" --data-dir "$D/etcd"
		--listen-client-urls "$client" --advertise-client-urls "$client"
		--listen-peer-urls "$peer" --initial-advertise-peer-urls "$peer"
		--initial-cluster "default=$peer"
		--quota-backend-bytes 4294967296 --log-level warn)
	[ "$FSYNC" = 1 ] || command+=(--unsafe-no-fsync)
}

# The Node authorizer gives kubelets their permissions; logs and exec need the kubelet-* flags.
command_kube_apiserver() {
	# shellcheck disable=SC2206 # lists of arguments by environment
	command=("$(program kube-apiserver)" --etcd-servers "http://127.0.0.1:$((PORTBASE + 1))"
		--bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$PORTBASE"
		--endpoint-reconciler-type none
		--cert-dir "$D/pki" --tls-cert-file "$D/pki/server.crt"
		--tls-private-key-file "$D/pki/server.key"
		--client-ca-file "$D/pki/ca.crt" --token-auth-file "$D/tokens.csv"
		--authorization-mode "RBAC,Node" --enable-admission-plugins NodeRestriction
		--kubelet-preferred-address-types InternalIP
		--kubelet-certificate-authority "$D/pki/ca.crt"
		--kubelet-client-certificate "$D/pki/admin.crt"
		--kubelet-client-key "$D/pki/admin.key"
		--service-account-issuer https://kubernetes.default.svc
		--service-account-key-file "$D/pki/sa.pub"
		--service-account-signing-key-file "$D/pki/sa.key"
		--service-cluster-ip-range 10.96.0.0/16
		--allow-privileged=true $APISERVER_ARGS)
	[ "$POD_GROUPS" = 0 ] ||
		command+=(--feature-gates GenericWorkload=true
			--runtime-config scheduling.k8s.io/v1beta1=true)
}

command_kube_controller_manager() {
	# shellcheck disable=SC2206
	command=("$(program kube-controller-manager)" --kubeconfig "$D/kcm.kubeconfig"
		--authentication-kubeconfig "$D/kcm.kubeconfig"
		--authorization-kubeconfig "$D/kcm.kubeconfig"
		--bind-address 127.0.0.1 --secure-port $((PORTBASE + 3))
		--cert-dir "$D/pki" --leader-elect=false --use-service-account-credentials
		--service-account-private-key-file "$D/pki/sa.key" --root-ca-file "$D/pki/ca.crt"
		--kube-api-qps 500 --kube-api-burst 1000 $KCM_ARGS)
	[ "$POD_GROUPS" = 0 ] || command+=(--feature-gates GenericWorkload=true)
}

command_kwok() {
	command=("$(program kwok)" --kubeconfig "$D/admin.kubeconfig" --config "$STAGES"
		--manage-nodes-with-annotation-selector kwok.x-k8s.io/node=fake
		--node-lease-duration-seconds 40
		--server-address "127.0.0.1:$((PORTBASE + 4))")
}

api() {
	curl -s --max-time 2 --cacert "$D/pki/ca.crt" \
		-H "Authorization: Bearer $(cat "$D/tokens/admin")" \
		"https://127.0.0.1:$PORTBASE$1" "${@:2}"
}

ready_etcd() { curl -s --max-time 1 -o /dev/null -f "http://127.0.0.1:$((PORTBASE + 1))/health"; }
ready_kube_apiserver() { [ "$(api /readyz)" = ok ]; }
# The default service account is the controller manager's first visible work. After a restart the
# account exists already, so the health endpoint is checked as well; its certificate is self-signed.
ready_kube_controller_manager() {
	api /api/v1/namespaces/default/serviceaccounts/default -o /dev/null -f &&
		curl -s --max-time 1 -o /dev/null -f -k \
			"https://127.0.0.1:$((PORTBASE + 3))/healthz"
}
ready_kwok() { curl -s --max-time 1 -o /dev/null -f "http://127.0.0.1:$((PORTBASE + 4))/healthz"; }

# The process id of component $1, if the process is alive and belongs to this control plane.
pid_of() {
	local pid
	pid=$(cat "$D/run/$1.pid" 2> /dev/null) || return 1
	grep -qF "$D" "/proc/$pid/cmdline" 2> /dev/null && echo "$pid"
}

# True while process $1 may still hold sockets. An ending process loses its command line first and
# its sockets later; a zombie has none left.
holds_files() { grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2> /dev/null; }

launch() {
	local command=()
	if pid_of "$1" > /dev/null; then return; fi
	"command_${1//-/_}"
	setsid "${command[@]}" >> "$D/log/$1.log" 2>&1 < /dev/null 9>&- &
	echo $! > "$D/run/$1.pid"
}

# Waits up to three minutes until component $1 is ready. If it died, prints the end of its log.
await() {
	local deadline=$((SECONDS + 180)) name=$1
	until "ready_${name//-/_}"; do
		kill -0 "$(cat "$D/run/$name.pid")" 2> /dev/null || {
			tail -n 5 "$D/log/$name.log" >&2
			die "$name died; its log is $D/log/$name.log"
		}
		[ $SECONDS -lt $deadline ] ||
			die "$name is not ready after three minutes; its log is $D/log/$name.log"
		sleep 0.05
	done
}

# Ends component $1 with signal $2 and waits until it is gone. With open watches an API server takes
# a minute to end after SIGTERM, so it is killed after five seconds.
end() {
	local pid deadline=$((SECONDS + 5))
	pid=$(pid_of "$1") || return 0
	kill "-$2" "$pid" 2> /dev/null || true # the process may end at any moment
	while holds_files "$pid"; do
		if [ $SECONDS -ge $deadline ]; then kill -9 "$pid" 2> /dev/null || true; fi
		sleep 0.02
	done
	rm -f "$D/run/$1.pid"
}
