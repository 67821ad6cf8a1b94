# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# find_go puts a Go that is new enough for the modules first in PATH. Sourced after common.sh. It
# tries, in this order: an installed Go, Debian's package if that is new enough, and the toolchain
# as a module, golang.org/toolchain. A newer go fetches that module by itself (GOTOOLCHAIN); even an
# old one, as in Debian 12, can download it like any other module.

GO_NEEDED=1.26.6  # the highest "go" line among the modules that we build
GO_FETCHED=1.26.8 # fetched when nothing installed is new enough

at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

version_of() {
	GOTOOLCHAIN=local "$1" version 2> /dev/null | sed -n 's/^go version go\([0-9.]*\).*/\1/p'
}

installed_go() {
	local go v
	for go in "$(command -v go || true)" /usr/local/go/bin/go "$CACHE/go/bin/go" \
		/usr/lib/go-*/bin/go; do
		[ -x "$go" ] || continue
		v=$(version_of "$go")
		if [ -n "$v" ] && at_least "$1" "$v"; then
			echo "$go"
			return
		fi
	done
}

# $1: a go of any version. The module arrives without execute permission; the go command also sets
# it after its own downloads.
fetch_toolchain() {
	local arch dir
	arch=$("$1" env GOARCH)
	with_progress "Go $GO_FETCHED as module golang.org/toolchain" \
		"$CACHE/log/go-toolchain.log" last_line \
		env GOTOOLCHAIN=local GOFLAGS=-mod=mod GOMODCACHE="$CACHE/go-module" \
		"$1" mod download -json "golang.org/toolchain@v0.0.1-go$GO_FETCHED.linux-$arch" ||
		return 1
	dir=$(sed -n 's/.*"Dir": "\(.*\)",*/\1/p' "$CACHE/log/go-toolchain.log")
	[ -d "$dir" ] || return 1
	chmod -R u+w "$dir"
	find "$dir/bin" "$dir/pkg/tool" -type f -exec chmod 755 {} +
	ln -sfn "$dir" "$CACHE/go"
}

debian_go() {
	local candidate
	candidate=$(apt-cache policy golang-go 2> /dev/null |
		sed -n 's/^ *Candidate: *[0-9]*:\?\([0-9.]*\).*/\1/p')
	[ -n "$candidate" ] || return 0
	need_packages golang-go
}

find_go() {
	local go
	go=$(installed_go "$GO_NEEDED")
	if [ -z "$go" ]; then
		[ -n "$(installed_go 1.11)" ] || debian_go
		go=$(installed_go "$GO_NEEDED")
	fi
	if [ -z "$go" ]; then
		go=$(installed_go 1.11)
		[ -n "$go" ] ||
			die "no Go: please install Go $GO_NEEDED or later" \
				"(any older Go would do to fetch it)"
		say "$go is $(version_of "$go"); the modules need $GO_NEEDED"
		fetch_toolchain "$go" ||
			die "Go $GO_FETCHED cannot be fetched:" \
				"please install Go $GO_NEEDED or later," \
				"or allow access to a Go module proxy"
		go=$CACHE/go/bin/go
	fi
	PATH=$(dirname "$go"):$PATH
	export PATH GOTOOLCHAIN=local
}
