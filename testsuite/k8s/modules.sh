# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Main modules from which published programs can be built without their repositories; sourced by
# build.
#
# A program's module can be built as a dependency of a module of ours whose go.mod repeats its
# requirements: then every third-party version is exactly the released one. Kubernetes needs one
# more step. Its go.mod replaces 33 modules by folders of its own repository ("replace k8s.io/api =>
# ./staging/src/k8s.io/api"). Each of them is also published as a module: v0.37.1 belongs to
# v1.37.1.

# The path of the go.mod of module $1 at version $2.
gomod_of() {
	local json
	json=$(cd "$SRC" && go mod download -json "$1@$2") ||
		die "module $1 $2 cannot be had from the Go module proxy: $json"
	echo "$json" | sed -n 's/.*"GoMod": "\(.*\)",*/\1/p'
}

is_module() { [ "$(cat "$SRC/$1/.version" 2> /dev/null)" = "$2" ]; }

# $1 directory, $2 version, text of go.mod on stdin
write_module() {
	mkdir -p "$SRC/$1"
	cat > "$SRC/$1/go.mod"
	rm -f "$SRC/$1/go.sum"
	echo "$2" > "$SRC/$1/.version"
}

# A module without replace lines, used unchanged: $1 directory, $2 module, $3 version
plain_module() {
	is_module "$1" "$3" && return
	local gomod
	gomod=$(gomod_of "$2" "$3")
	{
		echo "module slurm-kube.test/$1"
		sed -n '/^go /p' "$gomod"
		echo "require $2 $3"
		sed -n '/^require (/,/^)/p' "$gomod"
	} | write_module "$1" "$3"
}

# kwok and etcd build well with the minimum versions that their dependencies require; their own
# go.mod files have replace lines.
thin_module() {
	is_module "$1" "$3" && return
	printf 'module slurm-kube.test/%s\n\ngo 1.26.0\n\nrequire %s %s\n' "$1" "$2" "$3" |
		write_module "$1" "$3"
}

kubernetes_module() {
	local version=$1 staging=v0.${1#v1.} gomod
	is_module k8s "$version" && return
	gomod=$(gomod_of k8s.io/kubernetes "$version")
	{
		echo "module slurm-kube.test/k8s"
		sed -n '/^go /p' "$gomod"
		echo "require k8s.io/kubernetes $version"
		sed -n '/^require (/,/^)/p' "$gomod" |
			sed "s/ v0\.0\.0$/ $staging/; s/ v0\.0\.0 / $staging /"
		echo "replace ("
		sed -n "s,^\s*\(k8s\.io/[a-z0-9-]*\) => \./staging/.*,\t\1 => \1 $staging,p" \
			"$gomod"
		echo ")"
	} | write_module k8s "$version"
}

# The linker sets what /version and kubectl version report.
kubernetes_ldflags() {
	local minor=${1#v1.} v=k8s.io/component-base/version
	minor=${minor%%.*}
	echo "-s -w -X $v.gitVersion=$1 -X $v.gitMajor=1 -X $v.gitMinor=$minor" \
		"-X $v.gitTreeState=clean -X $v.gitCommit=module" \
		"-X $v.buildDate=1970-01-01T00:00:00Z -X k8s.io/client-go/pkg/version.gitVersion=$1"
}

# Without the last four values helm takes every cluster that it does not ask for Kubernetes 1.20.
helm_ldflags() {
	local h=helm.sh/helm/v3 minor package
	minor=$(sed -n 's,^\s*k8s\.io/client-go v0\.\([0-9]*\)\..*,\1,p' "$SRC/helm/go.mod")
	echo "-s -w -X $h/internal/version.version=$1"
	for package in $h/pkg/chartutil $h/pkg/lint/rules; do
		echo "-X $package.k8sVersionMajor=1 -X $package.k8sVersionMinor=$minor"
	done
}
