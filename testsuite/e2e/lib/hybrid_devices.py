# SPDX-License-Identifier: GPL-2.0-or-later
"""A hybrid node with devices: slurmd's gres.conf names files that the kernel knows, and the example
driver publishes as many GPUs. Nothing is behind the files; the cgroups of jobs deny them all the
same.
"""
import os
import re
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

from .cpusets import Sampler
from .device_claims import DRIVER, claim_template, device_class, with_claim
from .device_testbed import DEVICES, RULES, indices_in, indices_of_job, with_run_directory
from .expect import only_job
from .hybrid_testbed import HybridTestbed
from .manifests import pod
from .objects import skube_manifests
from .tap import Skip, equal
from .waiting import wait_for

MAJOR = 240  # "local/experimental use" in the kernel's list of devices


class HybridDeviceTestbed(HybridTestbed):
    """Names of devices and their indices in Slurm have the same numbers."""

    def __init__(self, build, node):
        super().__init__(build, node, size=f"Gres=gpu:{DEVICES}", settings={"devices": RULES})
        self.slurm.extra.append("GresTypes=gpu")
        self.files = [Path(f"/dev/kube-gpu-{self.base}-{i}") for i in range(DEVICES)]

    def start_slurm(self):
        self.stack.callback(self._remove_files)
        for i, file in enumerate(self.files):
            try:
                os.mknod(file, stat.S_IFCHR | 0o666, os.makedev(MAJOR, self.base * DEVICES + i))
            except PermissionError as e:
                raise Skip(f"no device files can be made: {e}") from None
        self.write_gres()
        super().start_slurm()

    def write_gres(self, gres_type=""):
        """gres.conf, with all devices of one type."""
        typed = f" Type={gres_type}" if gres_type else ""
        lines = [f"NodeName={self.node} Name=gpu{typed} File={file}\n" for file in self.files]
        (self.dir / "gres.conf").write_text("".join(lines))

    def use_type(self, gres_type):
        """All devices become those of a type; the node must be idle."""
        size = self.slurm.native_size
        self.slurm.native_size = size.replace("Gres=gpu:", f"Gres=gpu:{gres_type}:")
        self.write_gres(gres_type)
        self.slurm.write_conf()
        self.slurm.slurmd.stop()
        self.slurm.restart()
        self.slurm.slurmd.start()
        self.agent.settings["devices"] = [{**RULES[0], "type_attribute": "model"}]
        self.agent.restart()
        self.wait_idle()

    def _remove_files(self):
        for file in self.files:
            with suppress(FileNotFoundError):
                file.unlink()

    def start_kubernetes(self):
        super().start_kubernetes()
        self.plane.dra_driver(self.node, DEVICES)
        self.kube.create(device_class())
        self.kube.watch("ResourceClaim")
        for count in (1, 2):
            self.kube.create(claim_template(f"some-{count}", count))

    def start_agent(self):
        super().start_agent()
        text = skube_manifests(self, "--config", self.dir / "slurmkubed.yaml", "--only", "rbac")
        self.plane.kubectl("apply", "-f", "-", stdin=text)
        wait_for(lambda: len(self.shown()) == DEVICES, "the agent to know the devices")

    @property
    def driver(self):
        return self.plane.dra_drivers[0]

    # ---- what tests do ----

    def shown(self):
        """{device: its row of skube show devices}"""
        return {row["device"]: row for row in self.agent.skube("show", "devices")["devices"]}

    def device_pod(self, name, shell, spec=None, **source):
        """A pod of one processor with a claim; its program sees the run directory as /h."""
        manifest = pod(name, cpu="900m", memory="50Mi", shell=shell, spec=spec)
        return self.kube.create(with_run_directory(self, with_claim(manifest, **source)))

    def make(self, name, shell="sleep 3600", **options):
        """For a crowd: now one device, now two."""
        template = f"some-{1 + len(name + shell) % 2}"
        return self.device_pod(name, shell, resourceClaimTemplateName=template, **options)

    def start_native(self, wrap, *options):
        """The same of a native job, unless the options say how many."""
        gres = () if any("--gres" in o for o in options) else (f"--gres=gpu:{1 + len(wrap) % 2}",)
        return super().start_native(wrap, *gres, *options)

    @contextmanager
    def device_file_of_all(self, file):
        """All containers with a claim get this file, too, from the driver's CDI specification. Some
        drivers give one for each device, the example driver none.
        """
        (common,) = (self.plane.nodes[self.node] / "cdi").glob(f"k8s.{DRIVER}*common*")
        before = common.read_text()
        edits = "      containerEdits:\n"
        equal(before.count(edits), 1)
        common.write_text(
            before.replace(edits, f"{edits}        deviceNodes: [{{path: {file}}}]\n")
        )
        try:
            yield
        finally:
            common.write_text(before)

    def indices(self, made):
        return indices_of_job(self, only_job(self, made)["JobId"])

    def denied(self, made):
        """Why containers of the pod are not created; empty: they are."""
        now = self.kube.get("Pod", made["metadata"]["name"])
        statuses = now["status"].get("containerStatuses", [])
        waiting = [s["state"].get("waiting", {}) for s in statuses]
        return " ".join(w.get("message", "") for w in waiting)


def _devices_of_process(pid):
    """The numbers of the devices in its environment; empty: it has ended, or has none."""
    with suppress(OSError):
        text = Path(f"/proc/{pid}/environ").read_text(errors="replace")
        given = re.findall(r"(?:^|\0)GPU_DEVICE_\d+=gpu-(\d+)", text)
        native = re.search(r"(?:^|\0)SLURM_JOB_GPUS=([\d,]+)", text)
        return {int(number) for number in given + (native[1].split(",") if native else [])}
    return set()


class DeviceSampler(Sampler):
    """The same for devices, as the environments of processes name them."""

    def sets_of(self, processes):
        sets = {
            owner: set().union(*map(_devices_of_process, pids)) for owner, pids in processes.items()
        }
        return {owner: devices for owner, devices in sets.items() if devices}


def devices_of_cgroup(node, job, files):
    """The names of devices whose files the cgroup of the job allows, as a process within it sees
    them. None: slurmd has not made it yet.
    """
    found = list(Path("/sys/fs/cgroup/devices").glob(f"slurm_{node}/uid_*/job_{job}"))
    if not found:
        return None
    (cgroup,) = found
    pid = os.fork()
    if pid == 0:
        allowed = 0
        with suppress(OSError):
            (cgroup / "cgroup.procs").write_text("0")
            allowed = sum(1 << i for i, file in enumerate(files) if os.access(file, os.R_OK))
        os._exit(allowed)
    allowed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return [f"gpu-{i}" for i in range(len(files)) if allowed & 1 << i]


def probes_left(node):
    """Cgroups of slurmkube-node's questions that were not removed."""
    return list(Path("/sys/fs/cgroup/devices").glob(f"slurm_{node}/uid_*/job_*/slurm-kube-probe"))


def holders_by_index(bed):
    """{device: [numbers of running jobs that have it]}, native ones and those of pods."""
    shown = bed.slurm.run("scontrol", "-d", "-o", "show", "job")
    out = {}
    for line in shown.splitlines():
        job = re.search(r"JobId=(\d+) .*JobState=RUNNING ", line)
        if job and re.search(r"GRES=gpu\S*\(IDX:[\d,-]+\)", line):
            for device in indices_in(line):
                out.setdefault(device, []).append(job[1])
    return out
