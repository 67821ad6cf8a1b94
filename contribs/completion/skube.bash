# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bash completion for skube: source this file, or install it as
# /usr/share/bash-completion/completions/skube.

_skube() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words
	case $previous in
	show) words="jobs pods nodes" ;;
	pods) words="--active --json" ;;
	explain) words="options" ;;
	nodes) words="--slurm-conf --output --force" ;;
	kubeconfig) words="--token-file --owner --duration" ;;
	teardown)
		words="--apply --agents-stopped --context --kubeconfig --label --scheduler-name"
		words+=" --socket"
		;;
	--socket | --output | --token-file | --kubeconfig)
		compopt -o default
		COMPREPLY=()
		return
		;;
	*)
		words="check ping show why nodes diag explain kubeconfig teardown help"
		words+=" --json --apply --context --kubeconfig --agents-stopped --label"
		words+=" --scheduler-name --token-file --owner --duration"
		words+=" --socket --version --help"
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _skube skube
