# SPDX-License-Identifier: GPL-2.0-or-later
"""slurm.conf and kube.conf of a private cluster: one real slurmd beside external nodes, everything
on 127.0.0.1.
"""
import socket
import sys

SLURM_CONF = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={slurmctld_port}
SlurmctldPidFile={dir}/slurmctld.pid
SlurmdPidFile={dir}/slurmd-%n.pid
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/s-%n
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={dir}/munge.sock
PluginDir={plugin_dirs}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmctldDebug=debug
SlurmdParameters=config_overrides
MaxJobCount=100000
MinJobAge={min_job_age}
ReturnToService={return_to_service}
NodeName={native} NodeHostname={host} NodeAddr=127.0.0.1 Port={slurmd_port} {native_size}
PartitionName=native Nodes={native} Default=YES DefMemPerCPU=100
NodeSet=kube Feature=kube
PartitionName=kube Nodes=kube DefMemPerCPU=100 MaxTime=UNLIMITED
"""


def render(slurm, extra):
    """The text of slurm.conf for a Slurm object; extra lines come last."""
    text = SLURM_CONF.format(
        dir=slurm.dir,
        host=socket.gethostname().partition(".")[0],
        slurmctld_port=slurm.port,
        slurmd_port=slurm.port + 1,
        native=slurm.native_name,
        native_size=slurm.native_size,
        plugin_dirs=":".join(map(str, slurm.plugin_dirs)),
        min_job_age=slurm.min_job_age,
        return_to_service=slurm.return_to_service,
    )
    text += "JobSubmitPlugins=kube\n" if slurm.has_plugin else ""
    # Dynamic nodes need room from 24.11 on; before that the nodes come from a file written by the
    # agent's skube.
    text += (
        "MaxNodeCount=5000\n" if slurm.dynamic_nodes else f"Include {slurm.dir}/kube-nodes.conf\n"
    )
    return text + "".join(line + "\n" for line in extra)


def kube_conf(slurm):
    partitions = f"Partitions={slurm.pod_partitions}\n" if slurm.pod_partitions else ""
    sockets = "".join(f"Cluster={name} Socket={path}\n" for name, path in slurm.clusters)
    sockets = sockets or f"Socket={slurm.dir}/plugin.sock\n"
    return f"{sockets}SinkPort={slurm.port + 2}\n{partitions}"


def plugin_dir_of(root, prefix):
    """The directory in which the Slurm under test has its own plugins."""
    if prefix:
        return f"{prefix}/lib/slurm"
    triplet = getattr(sys.implementation, "_multiarch", "x86_64-linux-gnu")
    return f"/usr/lib/{triplet}/slurm-wlm"
