# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bash completion for skube: source this file, or install it as
# /usr/share/bash-completion/completions/skube.

_skube() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words
	local line=" ${COMP_WORDS[*]:1:COMP_CWORD-1} " data="--json --output --socket"
	local lists="$data --state --node --sort --watch"
	case $previous in
	--socket | --token-file | --kubeconfig)
		compopt -o default
		COMPREPLY=()
		return
		;;
	-o | --output)
		words="json yaml"
		[[ $line = *" show "* ]] && words="wide name json yaml"
		if [[ $line = *" --slurm-conf "* ]]; then
			compopt -o default
			COMPREPLY=()
			return
		fi
		;;
	show) words="jobs pods nodes" ;;
	explain) words="options" ;;
	*)
		case $line in
		*" show jobs "*) words="$lists --namespace --all-namespaces --user" ;;
		*" show pods "*)
			words="$lists --namespace --all-namespaces --user --selector --active"
			;;
		*" show nodes "*) words="$lists --selector" ;;
		*" why "*) words="$data --namespace" ;;
		*" check "* | *" ping "* | *" diag "*) words="$data" ;;
		*" nodes "*) words="--slurm-conf --output --force --socket" ;;
		*" kubeconfig "*) words="--token-file --owner --duration" ;;
		*" teardown "*)
			words="--apply --agents-stopped --context --kubeconfig --label"
			words+=" --scheduler-name --socket"
			;;
		*)
			words="check ping show why nodes diag explain kubeconfig teardown help"
			words+=" --socket --version --help"
			;;
		esac
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _skube skube
