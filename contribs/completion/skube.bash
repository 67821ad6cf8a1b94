# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Bash completion for skube: source this file, or install it as
# /usr/share/bash-completion/completions/skube.

# The names in a list of the agent, one per line; nothing if it does not answer.
_skube_names() {
	skube show "$1" -o name 2> /dev/null
}

_skube_states() {
	case $1 in
	*" show nodes "*)
		echo Ready NotReady absent unknown cordoned IDLE ALLOCATED MIXED DOWN DRAIN
		;;
	*)
		[[ $1 = *" show pods "* ]] && echo Succeeded
		echo Pending Running Failed SUSPENDED COMPLETED CANCELLED TIMEOUT NODE_FAIL
		echo PREEMPTED BOOT_FAIL DEADLINE OUT_OF_MEMORY COMPLETING
		;;
	esac
}

# The columns of the list by which --sort can sort.
_skube_columns() {
	case $1 in
	*" show jobs "*)
		echo jobid pod state user partition account priority kind age time exit nodes node
		echo reason
		;;
	*" show pods "*) echo pod phase user age node jobid job partition uid waiting_for ;;
	*) echo node kind kubernetes slurm cpus memory_mib pods address features gres reason ;;
	esac
}

_skube_namespaces() {
	_skube_names pods | sed 's,/.*,,' | sort -u
}

# LINE: the words that an option's value can be; status 1 if $2 is no such option.
_skube_values() {
	case $2 in
	-n | --namespace) _skube_namespaces ;;
	# A space would make two words of one name.
	--context) kubectl config get-contexts --output name 2> /dev/null | grep -v ' ' ;;
	-t | --state) _skube_states "$1" ;;
	-u | --user) compgen -u ;;
	--node) _skube_names nodes ;;
	--sort) _skube_columns "$1" ;;
	--only)
		if [[ $1 = *" node-setup "* ]]; then
			echo node-conf containerd base-spec crio crio-hook epilog prolog slurm-conf
			echo cgroup-conf
		else
			echo rbac policies options-policy scheduler-name-policy flow-control
			echo dashboards
		fi
		;;
	-o | --output)
		[[ $1 = *" show "* && $1 != *" show devices "* ]] && echo wide name
		echo json yaml
		;;
	*) return 1 ;;
	esac
}

# LINE: options and words of the command.
_skube_words() {
	local data="--json --output --socket --config" named="--namespace --all-namespaces --user"
	local lists="$data --state --node --sort --watch"
	case $1 in
	*" show jobs "*) echo "$lists $named" ;;
	*" show pods "*) echo "$lists $named --selector --active" ;;
	*" show nodes "*) echo "$lists --selector" ;;
	*" show devices "*) echo "$data" ;;
	*" show "*) echo jobs pods nodes devices ;;
	*" watch "*) echo "$data $named --selector --node" jobs pods nodes ;;
	*" why "*)
		echo "$data --namespace"
		_skube_names pods
		_skube_names nodes | sed 's,^,node/,'
		_skube_names jobs | sed 's,^,job/,'
		;;
	*" check "* | *" ping "* | *" diag "*) echo "$data" ;;
	*" top "*) echo "$data" --once ;;
	*" hold "* | *" release "*)
		echo --namespace --verbose --socket --config
		_skube_names pods
		_skube_names jobs
		;;
	*" logs "*)
		echo --namespace --since --follow --file --verbose --socket --config
		_skube_names pods
		_skube_names nodes | sed 's,^,node/,'
		_skube_names jobs
		;;
	*" drain "* | *" resume "*)
		echo --context --kubeconfig --verbose --config
		[[ $1 = *" drain "* ]] && echo --reason
		_skube_names nodes
		;;
	*" version "*) echo "$data" --context --kubeconfig ;;
	*" selftest "*)
		echo "$data" --namespace --image --timeout --context --kubeconfig
		echo --scheduler-name
		;;
	*" nodes "*)
		echo --slurm-conf --output --force --socket --config
		echo --topology-conf --topology-labels
		;;
	*" explain "*) echo options ;;
	*" kubeconfig "*) echo --token-file --owner --duration --account ;;
	*" manifests "*) echo --config --only --account ;;
	*" node-setup "*) echo --system-cpus --only ;;
	*" teardown "*)
		echo --apply --agents-stopped --cluster --context --kubeconfig --label
		echo --scheduler-name
		echo --socket --config
		;;
	*" migrate "*)
		echo --from --bridge-stopped --sunk-scheduler --apply --context --kubeconfig --label
		;;
	*)
		echo check ping show why nodes diag top watch selftest logs hold release drain
		echo resume version explain kubeconfig manifests node-setup teardown migrate help
		echo --socket --config --version --help
		;;
	esac
}

_skube() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local words word
	local line=" ${COMP_WORDS[*]:1:COMP_CWORD-1} "
	COMPREPLY=()
	case $previous in
	--socket | --token-file | --kubeconfig | --config | --file)
		compopt -o default
		return
		;;
	esac
	if [[ $line = *" --slurm-conf "* && $previous = @(-o|--output) ]]; then
		compopt -o default
		return
	fi
	words=$(_skube_values "$line" "$previous") || words=$(_skube_words "$line")
	# Names come from others: compgen -W would expand them, and so would the shell later.
	while IFS= read -r word; do
		[[ $word = *[!A-Za-z0-9._:/@=,%+-]* ]] || [[ $word != "$current"* ]] ||
			COMPREPLY+=("$word")
	done < <(tr -s ' ' '\n' <<< "$words")
}
complete -F _skube skube
