# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion of skube for bash: source it, or put it into
# /usr/share/bash-completion/completions as "skube".

_skube() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words
	case $previous in
	show) words="jobs pods nodes" ;;
	pods) words="--active --json" ;;
	explain) words="options" ;;
	nodes) words="--slurm-conf --output --force" ;;
	--socket | --output)
		compopt -o default
		COMPREPLY=()
		return
		;;
	*)
		words="check ping show why nodes diag explain kubeconfig teardown help"
		words+=" --json --apply --context --kubeconfig --agents-stopped"
		words+=" --socket --version --help"
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _skube skube
