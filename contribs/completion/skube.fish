# SPDX-License-Identifier: GPL-2.0-or-later
# Fish completion for skube.

function __skube_option
    complete -c skube -l $argv[1] -d $argv[2] $argv[3..-1]
end

set -l commands check ping show why nodes diag top selftest logs hold release drain resume version
set -a commands explain kubeconfig manifests teardown help
complete -c skube -f
complete -c skube -n "not __fish_seen_subcommand_from $commands" -a "$commands"
complete -c skube -n "__fish_seen_subcommand_from show" -a "jobs pods nodes"
complete -c skube -n "__fish_seen_subcommand_from explain" -a options
__skube_option active "Leave out pods that have ended"
__skube_option json "Print the reply of the agent as JSON"
__skube_option all-namespaces "Of all namespaces" -s A
__skube_option namespace "Of these namespaces" -s n -x
__skube_option selector "With these labels" -s l -x
__skube_option state "In one of these states" -x
__skube_option user "Of these users" -x -a "(__fish_complete_users)"
__skube_option node "On these nodes" -x
__skube_option sort "Order by these columns" -x
__skube_option watch "Go on and print changes" -s w
__skube_option socket "Control socket of the agent" -r -F
__skube_option slurm-conf "Print node lines for slurm.conf"
__skube_option output "Format, or file for node lines" -s o -r -F
__skube_option force "Replace the file even if nodes are missing"
__skube_option token-file "File for the token" -r -F
__skube_option owner "Owner of both files" -x -a "(__fish_complete_users)"
__skube_option duration "Life of the token" -x
__skube_option account "Service account of the agent" -x
__skube_option config "Configuration with the scheduler name" -r -F
__skube_option only "Only these parts" -x -a "rbac policies options-policy scheduler-name-policy flow-control dashboards"
__skube_option apply "Carry out the steps"
__skube_option agents-stopped "slurmkubed is stopped on the other hosts"
complete -c skube -n "__fish_seen_subcommand_from drain resume" -a "(skube show nodes -o name 2>/dev/null)"
complete -c skube -n "__fish_seen_subcommand_from hold release logs" -a "(skube show pods -o name 2>/dev/null)"
__skube_option once "Print one page"
__skube_option reason "What both sides show" -x
__skube_option since "Lines since then" -x
__skube_option file "Log file instead of the journal" -r -F
__skube_option follow "Go on with new lines" -s f
__skube_option verbose "Print the commands that are run" -s v
__skube_option image "Image that has /bin/true" -x
__skube_option timeout "Seconds for all steps" -x
__skube_option scheduler-name "Scheduler name of pods" -x
__skube_option label "Label of managed nodes" -x
__skube_option kubeconfig "Kubeconfig for kubectl" -r -F
__skube_option context "Context for kubectl" -x
__skube_option version "Print the version" -s V
__skube_option help "Print help" -s h
functions -e __skube_option
