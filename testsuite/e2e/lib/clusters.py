# SPDX-License-Identifier: GPL-2.0-or-later
"""Several Kubernetes clusters under one slurmctld: each has a control plane, an agent, a partition
and nodes of the same names.
"""
from .agent import Agent
from .cluster import Cluster


def _lines_of(name):
    """Lines of slurm.conf: a partition of the cluster's nodes."""
    return [
        f"NodeSet={name} Feature=kube-{name}",
        f"PartitionName={name} Nodes={name} DefMemPerCPU=100 MaxTime=UNLIMITED",
    ]


def _join(bed, name):
    """Gives the bed's agent the cluster's name; to be called before Slurm starts."""
    bed.cluster, bed.prefix = name, f"{name}-"
    bed.label = f"{bed.slurm.version} "
    bed.slurm.clusters.append((name, f"{bed.agent.dir}/plugin.sock"))
    bed.slurm.extra += _lines_of(name)
    bed.agent.rules[0]["partitions"] = [name, "kube"]
    bed.agent.settings |= {
        "cluster": name,
        "partition": name,
        "nodes": {
            "manage": True,
            **bed.agent.settings.get("nodes", {}),
            "name_prefix": bed.prefix,
        },
    }


class _Beside(Cluster):
    """A further cluster of the same Slurm."""

    def __init__(self, first, name, agent_options=None, **options):
        super().__init__(first.slurm.build, directory=first.dir / name, **options)
        self.slurm = first.slurm
        self.agent = Agent(first.slurm, self.plane, directory=self.dir, **(agent_options or {}))
        _join(self, name)

    def start_slurm(self):
        pass

    def daemons(self):
        return [self.agent.daemon]


class Clusters(Cluster):
    """with Clusters(BUILDDIR, ("alpha", "beta"), kwok=4) as bed: the bed itself is the first
    cluster, bed.others has the further ones. each: options of Cluster for every cluster; options
    are those of Slurm.
    """

    def __init__(self, build, names, kwok=2, cpus=8, each=None, **options):
        each = {"kwok": kwok, "cpus": cpus, **(each or {})}
        super().__init__(build, native=False, **each, **options)
        (self.dir / "log").mkdir(parents=True, exist_ok=True)
        _join(self, names[0])
        self.others = []
        for name in names[1:]:
            (self.dir / name / "log").mkdir(parents=True)
            self.others.append(_Beside(self, name, **each))
        self.slurm.pod_partitions = ",".join(("kube", *names))

    @property
    def all(self):
        return [self, *self.others]

    def start_agent(self):
        super().start_agent()
        for other in self.others:
            self.stack.callback(other.stack.close)
            other.start_kubernetes()
            other.start_agent()

    def daemons(self):
        return super().daemons() + [d for other in self.others for d in other.daemons()]

    def sweep(self, keep=("steady",)):
        super().sweep(keep)
        for other in self.others:
            Cluster.sweep(other, keep)
