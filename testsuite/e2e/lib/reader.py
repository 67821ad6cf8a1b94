# SPDX-License-Identifier: GPL-2.0-or-later
"""The reader of a tutorial: a shell on the test bed, whose commands and paths are those of a site.

The bed has other paths, ports and users than a site. The names of a Reader are pairs: what the
tutorial says, and what the bed has. They are replaced in commands and files, and in output the
other way round. The bed does what systemctl would do, because no systemd runs here.
"""
import os
import re
import shutil
import subprocess
import threading

from .admin import needs_kubectl
from .cluster import Cluster
from .control_plane import SCRIPTS
from .kubelets import end_pod
from .process import CACHE
from .tap import Skip
from .waiting import wait_for

SYSTEMCTL = re.compile(r"systemctl (restart|reload|enable --now) ([\w ]+)$")
# a command that waits for the end of a container, which the test then ends
AWAITS_END = re.compile(
    r"kubectl wait --for=(?:jsonpath='\{\.status\.phase\}'=(?:Succeeded|Failed)|condition=\w+)"
    r"(?: -n (?P<space>\S+))? (?P<kind>pod|job)/(?P<name>\S+)"
)
EXIT_CODE = re.compile(r"exit (\d+)")
MARK = "--- status"
SKUBE = """\
#!/bin/sh
export SKUBE_SOCKET={dir}/control.sock
skube={program} config={dir}/etc-slurm-kube/slurmkubed.yaml
[ -e $config ] || config=/dev/null
case $1 in
manifests) exec $skube "$@" --config $config ;;
kubeconfig)
	exec $skube "$@" {dir}/etc-slurm-kube/kubeconfig --token-file {dir}/token --owner root ;;
*) exec $skube "$@" ;;
esac
"""
# Only whole commands are the bed's, so the machine's own systemctl must not be found.
SYSTEMCTL_REFUSED = "#!/bin/sh\necho 'lib/reader.py does not know this use of systemctl'; exit 1\n"
SLURMKUBED = '#!/bin/sh\nexec {program} --config {dir}/etc-slurm-kube/slurmkubed.yaml "$@"\n'


def _replace(text, pairs):
    """All at once, the longest first; a word only as a whole."""
    pairs = {word: other for word, other in pairs if word}
    words = (
        rf"(?<![\w-]){re.escape(word)}" + (r"(?![\w-])" if word[-1].isalnum() else "")
        for word in sorted(pairs, key=len, reverse=True)
    )
    return re.sub("|".join(words), lambda found: pairs[found.group()], text)


class Shell:
    """A bash that runs one command after the other."""

    def __init__(self, directory, env, user=None):
        who = ["setpriv", f"--reuid={user}", "--regid=nogroup", "--clear-groups"] if user else []
        self.child = subprocess.Popen(
            [*who, "bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=directory,
            env={**os.environ, **env},
        )

    def run(self, command, timeout=200):
        """(exit status, output)"""
        self.child.stdin.write(
            f"{{ {command}\n}} < /dev/null; (s=$?; printf '\\n{MARK} %d\\n' $s; exit $s)\n"
        )
        self.child.stdin.flush()
        timer = threading.Timer(timeout, self.child.kill)
        timer.start()
        lines = []
        for line in self.child.stdout:
            if line.startswith(MARK):
                timer.cancel()
                return int(line.split()[-1]), "".join(lines).removesuffix("\n")
            lines.append(line)
        raise RuntimeError(f"no end after {timeout} s: {command}\n{''.join(lines)}")

    def close(self):
        self.child.kill()
        self.child.wait()


class Reader:
    """user: the reader's name on the host, by default root; account: the user in Kubernetes."""

    def __init__(self, bed, names, user=None, account="admin"):
        self.bed, self.home, self.user = bed, bed.dir / "home", user
        self.names = [(said, str(real)) for said, real in names]
        self.home.mkdir()
        (bed.dir / "etc-slurm-kube").mkdir(exist_ok=True)
        self._make_programs()
        kubeconfig = bed.dir / "reader.kubeconfig"
        kubeconfig.write_text(
            bed.plane.kubectl("config", "view", "--flatten", "--raw", user=account)
        )
        kubeconfig.chmod(0o600)
        if user:
            shutil.chown(self.home, user)
            shutil.chown(kubeconfig, user)
        env = {
            **bed.slurm.env,
            "HOME": str(self.home),
            "KUBECONFIG": str(kubeconfig),
            "PATH": f"{bed.dir}/bin:{bed.slurm.bin or '/usr/bin'}:{os.environ['PATH']}",
        }
        self.shell = Shell(self.home, env, user)
        bed.stack.callback(self.shell.close)

    def _make_programs(self):
        bin_dir = self.bed.dir / "bin"
        bin_dir.mkdir(mode=0o755)
        for name in ("kubectl", "helm"):
            if (CACHE / "k8s/bin" / name).exists():
                # another user cannot enter the cache
                shutil.copy(CACHE / "k8s/bin" / name, bin_dir / name)
        agent = self.bed.agent
        for name, text, program in (
            ("skube", SKUBE, agent.skube_program),
            ("slurmkubed", SLURMKUBED, agent.program),
            ("systemctl", SYSTEMCTL_REFUSED, None),
        ):
            (bin_dir / name).write_text(text.format(dir=self.bed.dir, program=program))
            (bin_dir / name).chmod(0o755)

    def for_bed(self, text):
        return _replace(text, self.names)

    def for_reader(self, text):
        return _replace(text, [(real, said) for said, real in self.names])

    def write(self, name, text):
        path = self.home / self.for_bed(name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(self.for_bed(text))
        path.chmod(0o644)

    def run(self, command):
        unit = SYSTEMCTL.match(command)
        if unit:
            for name in unit.group(2).split():
                self._unit(unit.group(1), name)
            return 0, ""
        self._end_containers(command)
        if command.startswith("skube selftest"):
            self._end_container_of_selftest()
        status, output = self.shell.run(self.for_bed(command))
        return status, self.for_reader(output)

    # What systemd would do.

    def _unit(self, verb, name):
        if name == "slurmctld":
            assert verb == "restart", verb
            self.bed.slurm.restart()
            return
        agent = self.bed.agent
        self._write_configuration()
        if verb == "reload":
            agent.daemon.signal(1)
            return
        if agent.daemon.alive():
            agent.daemon.stop()
        agent.daemon.start()
        wait_for(lambda: agent.daemon.check() and agent.skube_all("ping"), "slurmkubed to answer")

    def _write_configuration(self):
        """The tutorial's file, and the paths and ports of the bed."""
        bed = self.bed
        own = {
            "slurm": f"{{conf: {bed.dir}/slurm.conf}}",
            "plugin_socket": f"{bed.dir}/plugin.sock",
            "control_socket": f"{bed.dir}/control.sock",
            "metrics": f"{{listen: '127.0.0.1:{bed.base + 10}'}}",
            "log_level": "debug",
        }
        text = (bed.dir / "etc-slurm-kube/slurmkubed.yaml").read_text()
        lines = "".join(f"{key}: {value}\n" for key, value in own.items())
        (bed.dir / "slurmkubed.yaml").write_text(text + lines)

    # What the containers of simulated nodes would do.

    def _end_containers(self, command):
        awaited = AWAITS_END.match(command)
        if not awaited:
            return
        space, name = awaited.group("space") or "default", awaited.group("name")
        key = f"{space}/{name}" + ("-" if awaited.group("kind") == "job" else "")
        kube = self.bed.kube
        with kube.changed:
            keys = [
                k for k in kube.now["Pod"] if k == key or (key[-1] == "-" and k.startswith(key))
            ]
        for pod_key in keys:
            self._end_container(pod_key)

    def _end_container(self, key):
        pod = self.bed.kube.wait_phase(key, "Running", "Succeeded", "Failed")
        if pod["status"]["phase"] == "Running":
            code = EXIT_CODE.search(" ".join(pod["spec"]["containers"][0].get("command", [])))
            end_pod(self.bed, key, int(code.group(1)) if code else 0)

    def _end_container_of_selftest(self):
        kube = self.bed.kube

        def end():
            (key,) = kube.wait(
                lambda: [k for k in kube.now["Pod"] if "/skube-selftest-" in k], "a pod of the test"
            )
            self._end_container(key)

        threading.Thread(target=end, daemon=True).start()


class WithReader(Cluster):
    """A cluster in which containers run until the test ends them."""

    def __enter__(self):
        try:
            needs_kubectl(self)
        except Skip:
            self.__exit__(None, None, None)
            raise
        return super().__enter__()

    def start_kubernetes(self):
        text = (SCRIPTS / "stages.yaml").read_text()
        parts = text.split("\n---\n")
        kept = [part for part in parts if "\n  name: pod-finish\n" not in part]
        assert len(kept) == len(parts) - 1
        (self.dir / "stages.yaml").write_text("\n---\n".join(kept))
        self.plane.env = {**(self.plane.env or {}), "STAGES": str(self.dir / "stages.yaml")}
        super().start_kubernetes()
