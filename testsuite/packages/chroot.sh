# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# A clean Debian with its own slurmctld, of this machine's release or that in SUITE; sourced after
# common.sh and tap.sh. The base is in the cache; each program works in a copy of its own, $root.
# shellcheck disable=SC2016,SC2034 # apt expands $(FIELD) itself; $slurm is for the programs

root=${work:?}/root
# shellcheck source=/dev/null
host_suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
suite=${SUITE:-$host_suite}
case $suite in
bookworm) slurm=22.05.8 got=$slurm ;;
trixie) slurm=24.11.5 got=$slurm ;;
testing)
	got=testing # what testsuite/slurm/get calls it; its exit status 77: there is no source
	slurm=$("$TESTSUITE/slurm/get" testing) || exit
	slurm=$(eval "$slurm" && echo "$SLURM_VERSION")
	;;
*) die "SUITE=$suite: bookworm, trixie or testing" ;;
esac
# Where this program's slurmctld listens, on loopback.
port=${SLURM_KUBE_PORT:-25000}

in_root() {
	BARE_ROOT=1 "$TESTSUITE/slurm/in-root" "$root" env DEBIAN_FRONTEND=noninteractive \
		LC_ALL=C.UTF-8 "$@"
}

make_base() {
	local base=$1 mirror
	mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' \
		'Created-By: Packages' 2> /dev/null | sed -n 's/^Debian Debian //p' | head -n 1)
	rm -rf --one-file-system "$base.part"
	with_progress "debootstrap $suite" "$CACHE/log/clean-debootstrap.log" last_line \
		debootstrap --variant=minbase "$suite" "$base.part" ${mirror:+"$mirror"} || exit 1
	quiet_daemons "$base.part"
	apt-config dump | grep -E '^Acquire::(http|https|ftp|Check-|Retries|ForceIPv)' \
		> "$base.part/etc/apt/apt.conf.d/90host" || true
	cp /etc/resolv.conf "$base.part/etc/resolv.conf"
	root=$base.part
	with_progress "apt-get update" "$CACHE/log/clean-update.log" last_line \
		in_root apt-get update || exit 1
	with_progress "apt-get install slurmctld" "$CACHE/log/clean-install.log" last_line \
		in_root apt-get -y install --no-install-recommends slurmctld munge || exit 1
	root=$work/root
	mv "$base.part" "$base"
}

# Makes $root.
clean_root() {
	local base=$CACHE/clean-$suite
	[ "$(id -u)" = 0 ] || die "a chroot needs root"
	need_packages debootstrap
	lock "clean-$suite"
	[ -d "$base" ] || make_base "$base"
	exec 9>&-
	cp -a --reflink=auto "$base" "$root"
}

# The files of $root, without the records and caches of dpkg and apt.
files_of_root() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \
		-o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \
		-o -path ./var/lib/dpkg \) -prune -o -print | sort)
}

# A slurm.conf for the real slurmctld, in the directory /srv/slurm. LINE...: more lines.
write_slurm_conf() {
	mkdir -p "$root/srv/slurm/state"
	printf '%s\n' ClusterName=test "SlurmctldHost=$(hostname -s)(127.0.0.1)" \
		"SlurmctldPort=$port" SlurmdPort=$((port + 1)) SlurmUser=root \
		SlurmctldPidFile=/srv/slurm/slurmctld.pid StateSaveLocation=/srv/slurm/state \
		AuthInfo=socket=/srv/slurm/munge.sock SelectType=select/cons_tres \
		SelectTypeParameters=CR_Core_Memory ProctrackType=proctrack/linuxproc \
		MpiDefault=none \
		"NodeName=native NodeAddr=127.0.0.1 State=UNKNOWN" \
		"PartitionName=native Nodes=native" "$@" > "$root/etc/slurm/slurm.conf"
	printf 'Socket=/srv/slurm/plugin.sock\nSinkPort=%s\n' $((port + 2)) \
		> "$root/etc/slurm/kube.conf"
}

# What the unit runs before slurmctld, as its drop-in file says.
start_pre() {
	local command
	command=$(sed -n 's/^ExecStartPre=+//p' \
		"$root"/lib/systemd/system/slurmctld.service.d/*.conf)
	[ -n "$command" ] && in_root "$command"
}

# From 23.11 on slurmctld does not start without munged.
start_munged() {
	in_root sh -ec 'cd /srv/slurm
		[ -e munge.key ] || (umask 077 && head -c 128 /dev/urandom > munge.key)
		munged --force --socket=/srv/slurm/munge.sock --key-file=/srv/slurm/munge.key \
			--pid-file=/srv/slurm/munged.pid --seed-file=/srv/slurm/munged.seed \
			--log-file=/srv/slurm/munged.log'
}

end_munged() {
	local pid
	pid=$(cat "$root/srv/slurm/munged.pid" 2> /dev/null || true)
	if [ -n "$pid" ] && [ "$(readlink "/proc/$pid/root")" = "$root" ]; then kill "$pid"; fi
}

# The real slurmctld in the foreground until it has read its configuration or ended. Prints its log.
run_slurmctld() {
	local log=$work/slurmctld.log pid tries
	start_munged > "$log" 2>&1
	# not in_root: a function would run in a shell, and the signal would end only that shell
	BARE_ROOT=1 "$TESTSUITE/slurm/in-root" "$root" slurmctld -D -vv >> "$log" 2>&1 &
	pid=$!
	for tries in $(seq 300); do
		if grep -q 'Running as primary controller' "$log"; then break; fi
		kill -0 $pid 2> /dev/null || break
		sleep 0.1
	done
	kill -TERM $pid 2> /dev/null || true
	wait $pid || true
	end_munged
	cat "$log"
	[ "$tries" -lt 300 ]
}
