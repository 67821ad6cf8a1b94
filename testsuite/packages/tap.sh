# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# TAP for the shell programs of this folder; sourced, never run. Each function test_* is a case,
# which runs in a subshell with errexit. $work is the program's own directory, which it removes.

work=${work:-$(mktemp -d "${TMPDIR:-/tmp}/slurm-kube-packages.XXXXXX")}

# expect WANTED GOT [WHAT]: the two texts are the same.
expect() {
	[ "$1" = "$2" ] && return
	echo "${3:-}: expected '$1', got '$2'"
	return 1
}

# expect_in WORDS TEXT: the text has the words.
expect_in() {
	case $2 in *"$1"*) return ;; esac
	echo "expected '$1' in: $2"
	return 1
}

# run_cases [WORD]: runs the cases whose names have WORD, in the order of the file $0.
run_cases() {
	local names name number=0 failed=0 status
	mapfile -t names < <(sed -n "s/^\(test_[a-z0-9_]*${1:-}[a-z0-9_]*\)() .*/\1/p" "$0")
	echo "1..${#names[@]}"
	for name in "${names[@]}"; do
		number=$((number + 1)) status=0
		# not in a condition: bash would ignore errexit in the case
		set +e
		(
			set -e
			"$name"
		) > "$work/output" 2>&1
		status=$?
		set -e
		if [ $status -eq 0 ]; then
			echo "ok $number - ${name#test_}"
		else
			failed=1
			echo "not ok $number - ${name#test_}"
			sed 's/^/# /' "$work/output"
		fi
	done
	[ ${#names[@]} -gt 0 ] && return $failed
}
