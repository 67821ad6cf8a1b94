#compdef skube
# SPDX-License-Identifier: GPL-2.0-or-later
# Zsh completion for skube; install it as _skube in a directory of fpath.
# The functions share two variables of _skube: skube_command and options.

# KIND WORD...: offers the words. Names come from others, so that strange ones are left out.
_skube_offer() {
	local expl kind=$1
	local -a offered=("${(@M)@[2,-1]:#[-A-Za-z0-9._:/@=,%+]##}")
	_wanted ${kind}s expl $kind compadd -a offered
}

# The names in a list of the agent, one per line; nothing if it does not answer.
_skube_names() {
	skube show $1 -o name 2> /dev/null
}

_skube_nodes() {
	_skube_offer node ${(f)"$(_skube_names nodes)"}
}

_skube_namespaces() {
	_skube_offer namespace ${(u)${(f)"$(_skube_names pods)"}%%/*}
}

_skube_contexts() {
	_skube_offer context ${(f)"$(kubectl config get-contexts --output name 2> /dev/null)"}
}

_skube_states() {
	local -a states=(Pending Running Failed SUSPENDED COMPLETED CANCELLED TIMEOUT NODE_FAIL
		PREEMPTED BOOT_FAIL DEADLINE OUT_OF_MEMORY COMPLETING)
	case $skube_command in
	show-nodes)
		states=(Ready NotReady absent unknown cordoned IDLE ALLOCATED MIXED DOWN DRAIN)
		;;
	show-pods) states=(Succeeded $states) ;;
	esac
	_skube_offer state $states
}

# The columns of the list by which --sort can sort.
_skube_columns() {
	local -a columns
	case $skube_command in
	show-jobs)
		columns=(jobid pod state user partition account priority kind age time exit nodes
			node reason)
		;;
	show-pods)
		columns=(pod phase user age node jobid job partition uid waiting_for)
		;;
	*)
		columns=(node kind kubernetes slurm cpus memory_mib pods address features gres reason)
		;;
	esac
	_skube_offer column $columns
}

_skube_output() {
	case $skube_command in
	nodes) _files ;;
	show-devices) _skube_offer format json yaml ;;
	show*) _skube_offer format wide name json yaml ;;
	*) _skube_offer format json yaml ;;
	esac
}

_skube_argument() {
	local -a pods nodes jobs
	case $skube_command in
	why | logs | hold | release)
		pods=(${(f)"$(_skube_names pods)"})
		jobs=(${(f)"$(_skube_names jobs)"})
		;|
	why | logs) nodes=(${(f)"$(_skube_names nodes)"}) ;;
	esac
	case $skube_command in
	show) _skube_offer list jobs pods nodes devices ;;
	watch) _skube_offer list jobs pods nodes ;;
	why) _skube_offer name $pods node/$^nodes job/$^jobs ;;
	logs | hold | release) _skube_offer name $pods node/$^nodes $jobs ;;
	drain | resume) _skube_nodes ;;
	explain) _skube_offer topic options ;;
	kubeconfig) _files ;;
	esac
}

# COMMANDS SPECIFICATION...: an option of these commands. Before the command any option may stand.
_skube_option() {
	[[ -z ${(M)${=1}:#$skube_command*} ]] || options+=("${@[2,-1]}")
}

_skube_list_options() {
	local both="show-jobs show-pods" lists="show-jobs show-pods show-nodes"
	_skube_option show-pods '--active[leave out pods that have ended]'
	_skube_option "$both watch" '(-A --all-namespaces)'{-A,--all-namespaces}'[of all namespaces]'
	_skube_option "$both watch why selftest hold release logs" \
		'(-n --namespace)'{-n+,--namespace=}'[of namespaces]:namespace: _skube_namespaces'
	_skube_option "show-pods show-nodes watch" \
		'(-l --selector)'{-l+,--selector=}'[with these labels]:labels:'
	_skube_option $lists '(-t --state)'{-t+,--state=}'[in these states]:state: _skube_states'
	_skube_option "$both watch" '(-u --user)'{-u+,--user=}'[of these users]:user:_users'
	_skube_option "$lists watch" '--node=[on these nodes]:node: _skube_nodes'
	_skube_option $lists '--sort=[order by these columns]:column: _skube_columns'
	_skube_option $lists '(-w --watch)'{-w,--watch}'[go on and print changes]'
	_skube_option "$lists show-devices check ping diag why selftest version top watch" \
		'--json[print the reply of the agent as JSON]'
	_skube_option "$lists show-devices check ping diag why selftest version top nodes watch" \
		'(-o --output)'{-o+,--output=}'[format, or file of nodes]:output: _skube_output'
}

_skube_other_options() {
	local kubectl="teardown migrate selftest version drain resume"
	_skube_option nodes '--slurm-conf[print node lines for slurm.conf]'
	_skube_option nodes '--topology-conf[print lines for topology.conf]'
	_skube_option nodes '--topology-labels=[labels, outermost first]:labels:'
	_skube_option nodes '--force[replace the file even if nodes are missing]'
	_skube_option kubeconfig '--token-file=[file for the token]:file:_files'
	_skube_option kubeconfig '--owner=[owner of both files]:user:_users'
	_skube_option kubeconfig '--duration=[life of the token]:time:(24h 168h)'
	_skube_option "kubeconfig manifests" \
		'--account=[service account of the agent]:account:(slurm-kube/slurmkubed)'
	_skube_option manifests "--only=[only these parts]:part:(rbac policies options-policy \
		scheduler-name-policy flow-control dashboards)"
	_skube_option node-setup "--only=[only this file]:file:(node-conf containerd base-spec crio \
		crio-hook epilog prolog slurm-conf cgroup-conf)"
	_skube_option node-setup \
		'--system-cpus=[processors that Slurm gives to no job]:list:'
	_skube_option migrate '--bridge-stopped[slurm-bridge runs nowhere]'
	_skube_option migrate '--from=[what to take the cluster over from]:system:(slurm-bridge sunk)'
	_skube_option migrate '--sunk-scheduler=[schedulerName of the pods of SUNK]:name:'
	_skube_option "teardown migrate" '--apply[carry out the steps]'
	_skube_option teardown '--cluster=[remove only this cluster of several]:cluster:'
	_skube_option teardown '--agents-stopped[slurmkubed is stopped on the other hosts]'
	_skube_option "teardown migrate" \
		'--label=[label of managed nodes]:label:(slurm-kube.io/managed)'
	_skube_option "teardown selftest" '--scheduler-name=[scheduler name of pods]:name:(slurm)'
	_skube_option top '--once[print one page]'
	_skube_option drain '--reason=[what both sides show]:text:'
	_skube_option logs '--since=[lines since then]:time:'
	_skube_option logs '--file=[log file instead of the journal]:file:_files'
	_skube_option logs '(-f --follow)'{-f,--follow}'[go on with new lines]'
	_skube_option "logs hold release drain resume" \
		'(-v --verbose)'{-v,--verbose}'[print the commands that are run]'
	_skube_option selftest '--image=[image that has /bin/true]:image:'
	_skube_option selftest '--timeout=[seconds for all steps]:seconds:(120)'
	_skube_option $kubectl '--kubeconfig=[kubeconfig for kubectl]:file:_files'
	_skube_option $kubectl '--context=[context for kubectl]:context: _skube_contexts'
}

_skube() {
	local -a commands options before=($words[2,CURRENT-1])
	commands=(check ping show why nodes diag top watch selftest logs hold release drain resume
		version explain kubeconfig manifests node-setup teardown migrate help)
	local skube_command=${before[(r)(${(j:|:)commands})]}
	local list=${before[(r)(jobs|pods|nodes|devices)]}
	[[ $skube_command = show ]] && skube_command+=${list:+-$list}
	options=(
		'--socket=[control socket of the agent]:socket:_files'
		'--config=[configuration file of the agent]:file:_files'
		'(-V --version)'{-V,--version}'[print the version]'
		'(-h --help)'{-h,--help}'[print help]'
	)
	_skube_list_options
	_skube_other_options
	local argument=2
	[[ $skube_command = watch ]] && argument='*'
	_arguments $options "1:command:($commands)" "${argument}:argument: _skube_argument"
}

_skube "$@"
