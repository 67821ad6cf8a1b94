#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_completion.py [BUILD_DIR]: what bash, zsh and fish complete after skube, with an agent that
has jobs, pods and nodes. The words are compared with those of the real skube. Prints TAP.
"""

import os
import pty
import re
import shutil
import subprocess
import sys

from fixture import DIR, SKUBE, SOURCE, check, finish, skip

COMPLETIONS = os.path.join(SOURCE, "contribs", "completion")
BIN, HOME = os.path.join(DIR, "bin"), os.path.join(DIR, "home")
HIT = os.path.join(DIR, "hit")  # a name that is run as a command makes it
WITH_AGENT = """
case $* in
"show pods -o name") echo lab/a; echo lab/b; echo 'lab/$(touch$IFS"$HIT")'; echo physics/c ;;
"show jobs -o name") echo 7; echo 12 ;;
"show nodes -o name") echo n1; echo n2 ;;
*) exit 1 ;;
esac
"""
WITHOUT_AGENT = "echo 'skube: cannot reach slurmkubed' >&2; exit 3"
KUBECTL = """
[ "$*" = "config get-contexts --output name" ] || exit 1
echo prod; echo arn:aws:eks/lab; echo 'a b'; echo '`touch$IFS"$HIT"`'
"""
BASH = r"""
. "$COMPLETIONS/skube.bash"
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_skube
printf '%s\n' "${COMPREPLY[@]}"
"""
FISH = """
source $COMPLETIONS/skube.fish
complete -C "$argv"
"""
# All functions of zsh offer words by compadd; with -O, -A or -D it only filters an array.
ZSHRC = r"""
exec 3> "$OFFERED" 2> "$ERRORS"
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -u -d "$ZDOTDIR/dump"
compadd() {
	local -a __shown
	if [[ " ${@[1,(i)(-|--)]} " != *" -"[OAD]" "* ]]; then
		builtin compadd -A __shown "$@"
		print -rlu3 -- $__shown
	fi
	builtin compadd "$@"
}
offer() {
	_main_complete
	exit
}
zle -C offer complete-word offer
bindkey '^O' offer
zle-line-init() {
	BUFFER=$LINE CURSOR=$#LINE
	zle -U $'\C-o'
}
zle -N zle-line-init
"""


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def have_programs(**programs):
    for name, text in programs.items():
        write(f"{BIN}/{name}", "#!/bin/sh\n" + text)
        os.chmod(f"{BIN}/{name}", 0o755)


def environment(**more):
    return {
        "PATH": f"{BIN}:/usr/bin:/bin",
        "HOME": HOME,
        "TERM": "vt100",
        "COMPLETIONS": COMPLETIONS,
        "HIT": HIT,
        **more,
    }


def printed_by(*command):
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment()
    )
    return result.stdout, result.stderr


def bash(line):
    return printed_by("bash", "-c", BASH, "bash", *line.split(" "))


def fish(line):
    words, errors = printed_by("fish", "--no-config", "-c", FISH, line)
    return re.sub(r"\t.*", "", words), errors


def zsh(line):
    """zsh completes only in its line editor, which needs a terminal."""
    offered, errors = os.path.join(HOME, "offered"), os.path.join(HOME, "errors")
    terminal, slave = pty.openpty()
    subprocess.run(
        ["zsh", "--no-global-rcs", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        timeout=60,
        check=False,
        env=environment(ZDOTDIR=HOME, LINE=line, OFFERED=offered, ERRORS=errors),
    )
    os.close(slave)
    os.close(terminal)
    return read(offered), read(errors)


def completed(shell, line):
    """The words that the shell offers for the last word of the line, and errors if there are any;
    in order, because each shell has its own.
    """
    words, errors = shell(line)
    return sorted(words.split()) + errors.splitlines()


def words_of_error(*words):
    """The names that the real skube lists when it refuses a word."""
    error = subprocess.run([SKUBE, *words], capture_output=True, text=True, check=False).stderr
    return re.split(r", ", error.partition("there are ")[2].rpartition(" (")[0])


def test_names(shell):
    for line, words in (
        ("skube why ", "lab/a lab/b physics/c node/n1 node/n2 job/7 job/12"),
        ("skube why job/", "job/7 job/12"),
        ("skube why lab/", "lab/a lab/b"),
        ("skube why node/", "node/n1 node/n2"),
        ("skube logs ", "lab/a lab/b physics/c node/n1 node/n2 7 12"),
        ("skube hold ", "lab/a lab/b physics/c 7 12"),
        ("skube -v release lab/", "lab/a lab/b"),
        ("skube drain ", "n1 n2"),
        ("skube resume --context prod n", "n1 n2"),
        ("skube show pods -n ", "lab physics"),
        ("skube show jobs --namespace ", "lab physics"),
        ("skube -n ", "lab physics"),
        ("skube show jobs --node ", "n1 n2"),
        ("skube drain n1 --context ", "arn:aws:eks/lab prod"),
    ):
        found = [word for word in completed(shell, line) if not word.startswith("--")]
        check(f"{shell.__name__}: '{line}' offers {words}", found == sorted(words.split()), found)


def test_words(shell):
    for line, words in (
        ("skube -n lab wh", "why"),
        ("skube show ", "jobs pods nodes devices"),
        ("skube watch ", "jobs pods nodes"),
        ("skube watch pods ", "jobs pods nodes"),
        ("skube explain ", "options"),
        ("skube show pods --output ", "wide name json yaml"),
        ("skube check -o ", "json yaml"),
        ("skube manifests --only r", "rbac"),
        ("skube node-setup --only c", "containerd crio crio-hook cgroup-conf"),
    ):
        found = [word for word in completed(shell, line) if not word.startswith("--")]
        check(f"{shell.__name__}: '{line}' offers {words}", found == sorted(words.split()), found)
    check(f"{shell.__name__}: root is a user", "root" in completed(shell, "skube show jobs -u ro"))


def test_names_are_not_run(shell):
    """A pod may have any name that an agent tells, and a kubeconfig may come from others."""
    for line in ("skube why lab/", "skube drain --context "):
        words = completed(shell, line)
        check(
            f"{shell.__name__}: '{line}' leaves strange names out",
            len(words) == 2 and not os.path.exists(HIT),
            words,
        )


def test_no_agent(shell):
    have_programs(skube=WITHOUT_AGENT)
    for line in ("skube why l", "skube show pods -n l", "skube drain n"):
        words = completed(shell, line)
        check(f"{shell.__name__}: '{line}' offers nothing without an agent", words == [], words)
    have_programs(skube=WITH_AGENT)


def test_options_of_skube(shell):
    """skube accepts each option that is offered."""
    plain = ("--json", "--watch", "--active", "--all-namespaces", "--version", "--help")
    for what in ("jobs", "pods", "nodes"):
        options = completed(shell, f"skube show {what} --")
        check(f"{shell.__name__}: show {what} has options", len(options) >= 8, options)
        for option in options:
            given = [option] if option in plain else [f"{option}=/"]
            error = subprocess.run(
                [SKUBE, "--socket", f"{DIR}/none", "show", what, *given],
                capture_output=True,
                text=True,
                check=False,
            ).stderr
            check(
                f"{shell.__name__}: show {what} takes {option}",
                option.startswith("--")
                and "takes no option" not in error
                and "unknown" not in error,
                error,
            )


def test_values_of_skube(shell):
    """skube accepts each state that is offered; every column is offered."""
    for what in ("jobs", "pods", "nodes"):
        columns = sorted(word.lower() for word in words_of_error("show", what, "--sort=/"))
        found = completed(shell, f"skube show {what} --sort ")
        check(f"{shell.__name__}: --sort of {what} offers every column", found == columns, found)
        states = {word.upper() for word in completed(shell, f"skube show {what} -t ")}
        known = set(words_of_error("show", what, "--state=/"))
        check(
            f"{shell.__name__}: --state of {what} offers known states",
            states and states <= known,
            states - known,
        )


os.mkdir(BIN)
os.mkdir(HOME)
shutil.copy(f"{COMPLETIONS}/skube.zsh", f"{HOME}/_skube")
write(f"{HOME}/.zshrc", ZSHRC)
have_programs(skube=WITH_AGENT, kubectl=KUBECTL)
for program in (bash, zsh, fish):
    if not shutil.which(program.__name__):
        skip(f"{program.__name__} completes words", f"{program.__name__} is not installed")
        continue
    for test in (
        test_names,
        test_words,
        test_names_are_not_run,
        test_no_agent,
        test_options_of_skube,
        test_values_of_skube,
    ):
        test(program)
shutil.rmtree(BIN)
shutil.rmtree(HOME)
sys.exit(finish())
