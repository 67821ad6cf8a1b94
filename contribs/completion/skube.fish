# SPDX-License-Identifier: GPL-2.0-or-later
# Fish completion for skube.

# The command of the line, for show with its list: why, show, show-pods. Empty before the command.
function __skube_command
    set -l commands check ping show why nodes diag top watch selftest logs hold release drain
    set -a commands resume version explain kubeconfig manifests node-setup teardown migrate help
    set -l found
    for word in (commandline -opc)[2..-1]
        if test -z "$found"
            contains -- $word $commands; and set found $word
        else if test $found = show; and contains -- $word jobs pods nodes devices
            set found show-$word
        end
    end
    echo $found
end

# [COMMAND...]: whether the line has one of these; without them always. Before the command any
# option may stand.
function __skube_takes
    test -z "$argv"; or string match -q -- (__skube_command)"*" $argv
end

function __skube_is
    contains -- (__skube_command) $argv
end

# COMMAND...: the names that it prints, one per line; nothing if it fails. Names come from others,
# so that strange ones are left out.
function __skube_ask
    command $argv 2>/dev/null | string match -r '^[A-Za-z0-9._:/@=,%+-]+$'
end

# The names in a list of the agent.
function __skube_names
    __skube_ask skube show $argv[1] -o name
end

function __skube_namespaces
    __skube_names pods | string replace -r '/.*' '' | sort -u
end

function __skube_contexts
    __skube_ask kubectl config get-contexts --output name
end

function __skube_states
    set -l states Pending Running Failed SUSPENDED COMPLETED CANCELLED TIMEOUT NODE_FAIL
    set -a states PREEMPTED BOOT_FAIL DEADLINE OUT_OF_MEMORY COMPLETING
    switch (__skube_command)
        case show-nodes
            set states Ready NotReady absent unknown cordoned IDLE ALLOCATED MIXED DOWN DRAIN
        case show-pods
            set -p states Succeeded
    end
    string join \n $states
end

# The columns of the list by which --sort can sort.
function __skube_columns
    set -l columns node kind kubernetes slurm cpus memory_mib pods address features gres reason
    switch (__skube_command)
        case show-jobs
            set columns jobid pod state user partition account priority kind age time exit nodes
            set -a columns node reason
        case show-pods
            set columns pod phase user age node jobid job partition uid waiting_for
    end
    string join \n $columns
end

# NAME DESCRIPTION COMMANDS ARGUMENT-OF-COMPLETE...: an option of these commands.
function __skube_option
    complete -c skube -n "__skube_takes $argv[3]" -l $argv[1] -d $argv[2] $argv[4..-1]
end

# COMMANDS WORDS: the words that can follow these commands.
function __skube_words
    complete -c skube -n "__skube_is $argv[1]" -k -a $argv[2]
end

complete -c skube -f
__skube_words "''" "check ping show why nodes diag top watch selftest logs hold release drain \
    resume version explain kubeconfig manifests node-setup teardown migrate help"
__skube_words show devices
__skube_words "show watch" "jobs pods nodes"
__skube_words explain options
# fish offers what was added last first
__skube_words why "(string replace -r '^' job/ (__skube_names jobs))"
__skube_words "logs hold release" "(__skube_names jobs)"
__skube_words "why logs" "(string replace -r '^' node/ (__skube_names nodes))"
__skube_words "why logs hold release" "(__skube_names pods)"
__skube_words "drain resume" "(__skube_names nodes)"

set -l both show-jobs show-pods
set -l lists $both show-nodes
set -l data $lists show-devices check ping diag why selftest version top watch
set -l kubectl teardown migrate selftest version drain resume
set -l parts rbac policies options-policy scheduler-name-policy flow-control dashboards
__skube_option active "Leave out pods that have ended" show-pods
__skube_option json "Print the reply of the agent as JSON" "$data"
__skube_option all-namespaces "Of all namespaces" "$both watch" -s A
__skube_option namespace "Of these namespaces" "$both watch why selftest hold release logs" \
    -s n -x -a "(__skube_namespaces)"
__skube_option selector "With these labels" "show-pods show-nodes watch" -s l -x
__skube_option state "In one of these states" "$lists" -s t -x -k -a "(__skube_states)"
__skube_option user "Of these users" "$both watch" -s u -x -a "(__fish_complete_users)"
__skube_option node "On these nodes" "$lists watch" -x -a "(__skube_names nodes)"
__skube_option sort "Order by these columns" "$lists" -x -k -a "(__skube_columns)"
__skube_option watch "Go on and print changes" "$lists" -s w
__skube_option slurm-conf "Print node lines for slurm.conf" nodes
__skube_option topology-conf "Print lines for topology.conf" nodes
__skube_option topology-labels "Labels, outermost first" nodes -x
__skube_option output "File for node lines" nodes -s o -r -F
__skube_option output "Format" "$data" -s o -x -k -a "json yaml"
__skube_option output "Format" "$lists" -s o -x -k -a "wide name"
__skube_option force "Replace the file even if nodes are missing" nodes
__skube_option token-file "File for the token" kubeconfig -r -F
__skube_option owner "Owner of both files" kubeconfig -x -a "(__fish_complete_users)"
__skube_option duration "Life of the token" kubeconfig -x
__skube_option account "Service account of the agent" "kubeconfig manifests" -x
__skube_option only "Only these parts" manifests -x -k -a "$parts"
__skube_option only "Only this file" node-setup -x -k -a "node-conf containerd base-spec crio \
    crio-hook epilog prolog slurm-conf cgroup-conf"
__skube_option system-cpus "Processors that Slurm gives to no job" node-setup -x
__skube_option bridge-stopped "slurm-bridge runs nowhere" migrate
__skube_option from "What to take the cluster over from" migrate -x -a "slurm-bridge sunk"
__skube_option sunk-scheduler "schedulerName of the pods of SUNK" migrate -x
__skube_option apply "Carry out the steps" "teardown migrate"
__skube_option agents-stopped "slurmkubed is stopped on the other hosts" teardown
__skube_option once "Print one page" top
__skube_option reason "What both sides show" drain -x
__skube_option since "Lines since then" logs -x
__skube_option file "Log file instead of the journal" logs -r -F
__skube_option follow "Go on with new lines" logs -s f
__skube_option verbose "Print the commands that are run" "logs hold release drain resume" -s v
__skube_option image "Image that has /bin/true" selftest -x
__skube_option timeout "Seconds for all steps" selftest -x
__skube_option scheduler-name "Scheduler name of pods" "teardown selftest" -x
__skube_option label "Label of managed nodes" "teardown migrate" -x
__skube_option kubeconfig "Kubeconfig for kubectl" "$kubectl" -r -F
__skube_option context "Context for kubectl" "$kubectl" -x -a "(__skube_contexts)"
__skube_option socket "Control socket of the agent" "" -r -F
__skube_option cluster "Remove only this cluster of several" teardown -x
__skube_option config "Configuration file of the agent" "" -r -F
__skube_option version "Print the version" "" -s V
__skube_option help "Print help" "" -s h
functions -e __skube_option __skube_words
