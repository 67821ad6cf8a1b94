#compdef skube
# SPDX-License-Identifier: GPL-2.0-or-later
# Zsh completion for skube; install it as _skube in a directory of fpath.

_skube() {
	local -a options
	options=(
		'--active[leave out pods that have ended]'
		'--json[print the reply of the agent as JSON]'
		'(-A --all-namespaces)'{-A,--all-namespaces}'[of all namespaces]'
		'(-n --namespace)'{-n,--namespace}'[of these namespaces]:namespaces:'
		'(-l --selector)'{-l,--selector}'[with these labels]:labels:'
		'--state[in one of these states]:states:'
		'--user[of these users]:users:_users'
		'--node[on these nodes]:nodes:'
		'--sort[order by these columns]:columns:'
		'(-w --watch)'{-w,--watch}'[go on and print changes]'
		'--socket[control socket of the agent]:socket:_files'
		'--slurm-conf[print node lines for slurm.conf]'
		'(-o --output)'{-o,--output}'[format, or file for node lines]:output:_files'
		'--force[replace the file even if nodes are missing]'
		'--token-file[file for the token]:file:_files'
		'--owner[owner of both files]:user:_users'
		'--duration[life of the token]:time:(24h 168h)'
		'--account[service account of the agent]:account:(slurm-kube/slurmkubed)'
		'--config[configuration with the scheduler name]:file:_files'
		'--only[only these parts]:parts:(rbac policies options-policy scheduler-name-policy flow-control dashboards)'
		'--apply[carry out the steps]'
		'--agents-stopped[slurmkubed is stopped on the other hosts]'
		'--once[print one page]'
		'--reason[what both sides show]:text:'
		'--since[lines since then]:time:'
		'--file[log file instead of the journal]:file:_files'
		'(-f --follow)'{-f,--follow}'[go on with new lines]'
		'(-v --verbose)'{-v,--verbose}'[print the commands that are run]'
		'--image[image that has /bin/true]:image:'
		'--timeout[seconds for all steps]:seconds:(120)'
		'--scheduler-name[scheduler name of pods]:name:(slurm)'
		'--label[label of managed nodes]:label:(slurm-kube.io/managed)'
		'--kubeconfig[kubeconfig for kubectl]:file:_files'
		'--context[context for kubectl]:context:'
		'(-V --version)'{-V,--version}'[print the version]'
		'(-h --help)'{-h,--help}'[print help]'
	)
	_arguments $options \
		'1:command:(check ping show why nodes diag top selftest logs hold release drain resume \
			version explain kubeconfig manifests teardown help)' \
		'2:argument:_skube_argument'
}

_skube_argument() {
	case $words[2] in
	show) _values object jobs pods nodes ;;
	explain) _values topic options ;;
	kubeconfig) _files ;;
	esac
}

_skube "$@"
