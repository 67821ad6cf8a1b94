# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Certificates, tokens and kubeconfig files of a private control plane in D; sourced by up. They are
# created once and kept over restarts.

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1" 2> /dev/null; }

# cert FILE SUBJECT [subjectAltName]
cert() {
	key "$D/pki/$1.key"
	openssl req -new -key "$D/pki/$1.key" -subj "$2" -out "$D/pki/$1.csr"
	openssl x509 -req -in "$D/pki/$1.csr" -CA "$D/pki/ca.crt" -CAkey "$D/pki/ca.key" \
		-CAcreateserial -days 3650 -out "$D/pki/$1.crt" 2> /dev/null \
		-extfile <(printf 'keyUsage=%s\nextendedKeyUsage=%s\n%s' \
			digitalSignature serverAuth,clientAuth "${3:-}")
}

make_pki() {
	key "$D/pki/ca.key"
	openssl req -x509 -new -key "$D/pki/ca.key" -subj /CN=slurm-kube-test-ca -days 3650 \
		-out "$D/pki/ca.crt" -addext basicConstraints=critical,CA:TRUE \
		-addext keyUsage=critical,keyCertSign,cRLSign 2> /dev/null
	cert server /CN=kube-apiserver \
		"subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc,IP:10.96.0.1"
	cert admin /O=system:masters/CN=admin
	cert kcm /CN=system:kube-controller-manager
	openssl genrsa -out "$D/pki/sa.key" 2048 2> /dev/null
	openssl rsa -in "$D/pki/sa.key" -pubout -out "$D/pki/sa.pub" 2> /dev/null
}

# token NAME USER UID GROUP: random, because every user of this machine can reach 127.0.0.1.
token() {
	openssl rand -hex 16 > "$D/tokens/$1"
	printf '%s,%s,%s,"%s"\n' "$(cat "$D/tokens/$1")" "$2" "$3" "$4" >> "$D/tokens.csv"
}

make_tokens() {
	: > "$D/tokens.csv"
	token admin admin 1 system:masters
	token alice alice 3 users
	token bob bob 4 users
}

# The agent uses the service account of etc/rbac.yaml, as in a real cluster. Each up creates a new
# token.
make_agent_token() {
	"$(program kubectl)" --kubeconfig "$D/admin.kubeconfig" create token \
		--namespace slurm-kube slurmkubed --duration 240h > "$D/tokens/agent"
	kubeconfig agent "$(by_token agent)"
}

# kubeconfig NAME CREDENTIALS (lines of YAML)
kubeconfig() {
	cat > "$D/$1.kubeconfig" <<-YAML
		apiVersion: v1
		kind: Config
		clusters:
		- name: test
		  cluster:
		    server: https://127.0.0.1:$PORTBASE
		    certificate-authority: $D/pki/ca.crt
		users:
		- name: $1
		  user:
		$2
		contexts:
		- name: test
		  context:
		    cluster: test
		    user: $1
		current-context: test
	YAML
}

by_certificate() {
	printf '    client-certificate: %s/pki/%s.crt\n    client-key: %s/pki/%s.key' \
		"$D" "$1" "$D" "$1"
}

by_token() { printf '    token: %s' "$(cat "$D/tokens/$1")"; }

make_kubeconfigs() {
	local who
	for who in admin kcm; do kubeconfig "$who" "$(by_certificate "$who")"; done
	for who in alice bob; do kubeconfig "$who" "$(by_token "$who")"; done
}
