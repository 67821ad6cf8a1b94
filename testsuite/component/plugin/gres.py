# SPDX-License-Identifier: GPL-2.0-or-later
"""gres.conf files of real sites. The plugin calls Slurm's loader inside slurmctld, and that loader
ends the process on many mistakes that slurmctld alone tolerates.
"""
import random

from fixture import eventually
from slurm_gaps import is_idle, restart, running

G1 = "NodeName=g1 Name=gpu "
PLAIN = [
    G1 + "File=/dev/nothing[0-1]",
    G1 + "Count=2",
    G1 + "File=/dev/nothing[0-1] Count=2 Cores=0-1,3",
    G1 + "File=/dev/a0 Cores=0\n" + G1 + "File=/dev/a1 Cores=1-3",
    G1 + "File=/dev/nothing[0-7]",
    G1 + "File=/dev/nothing0",
    "NodeName=other Name=gpu Cores=900\n" + G1 + "Files=/dev/b,/dev/a[0-2]",
    "NodeName=n1 Name=gpu Flags=no_gpu_env,opencl_env MultipleFiles=/dev/x Links=9 Cores=99\n"
    + G1
    + "Count=2",
    "AutoDetect=off\n# a comment\n\n" + G1 + "File=/dev/nothing[0-1]",
]
FATAL = [
    G1 + "File=/dev/nothing[0-1] Cores=32-63",
    G1 + "Count=two",
    G1 + "Count=3 File=/dev/nothing[0-1]",
    G1 + "File=/dev/nothing0,/dev/nothing0",
    G1 + "File=/dev/a0\n" + G1 + "Count=1",
    G1 + "Type=a File=/dev/a0\n" + G1 + "File=/dev/a1",
    G1 + "\n" + G1,
    G1 + "File=/dev/a Flags=no_gpu_env,opencl_env",
    G1 + "Flags=opencl_env File=/dev/a\n" + G1 + "Flags=amd_gpu_env File=/dev/b",
    G1 + "MultipleFiles=/dev/a",
    G1 + "File=/dev/a[0-1] Core=0",
    G1 + "File=/dev/a[0-1] nonsense",
    "AutoDetect=nvml\n" + G1 + "Count=2",
]


def made_up(dice):
    """Lines of words, each of which is valid in some places and invalid in others."""
    words = [
        "File=/dev/a[0-1]",
        "File=/dev/a0",
        "Files=/dev/b0,/dev/b1",
        "Count=1",
        "Count=2",
        "Count=0",
        "Cores=0-3",
        "Cores=4",
        "Cores=3-1",
        "CPUs=0,2",
        "Type=a",
        "Type=b",
        "Flags=CountOnly",
        "Links=0,1",
    ]
    heads = [
        "NodeName=g1 Name=gpu",
        "NodeName=g[1-9] Name=GPU",
        "Name=gpu",
        "NodeName=k1 Name=gpu",
        "NodeName=g1 Name=nic",
    ]
    return "\n".join(
        " ".join([dice.choice(heads), *dice.sample(words, dice.randrange(4))])
        for _ in range(dice.randrange(1, 4))
    )


def write(fixture, text):
    with open(f"{fixture.run}/gres.conf", "w", encoding="utf-8") as f:
        f.write(text + "\n")


def survives(fixture, peer, text):
    """Whether the plugin had the file loaded; slurmctld must survive in any case."""
    write(fixture, text)
    told = fixture.log().count("gres.conf is not loaded")
    restart(fixture, peer)
    assert (
        fixture.slurmctld.poll() is None and fixture.answers()
    ), f"slurmctld has ended with gres.conf:\n{text}\n{fixture.log()[-600:]}"
    return fixture.log().count("gres.conf is not loaded") == told


def gres_conf_never_ends_slurmctld(fixture, peer):
    seed = random.randrange(10**6)
    dice = random.Random(seed)
    print(f"# seed {seed}")
    for text in PLAIN:
        assert survives(fixture, peer, text), f"not loaded:\n{text}\n{fixture.log()[-600:]}"
    for text in FATAL:
        assert not survives(fixture, peer, text), f"loaded:\n{text}"
    loaded = sum(survives(fixture, peer, made_up(dice)) for _ in range(25))
    print(f"# {loaded} of 25 made-up files were loaded")
    write(fixture, PLAIN[0])
    restart(fixture, peer)
    assert eventually(lambda: fixture.answers())
    fixture.complete(running(fixture, peer, "gres-conf", gres=f"gres{fixture.gres_mark}gpu:1"))
    is_idle(fixture, "g1")


TESTS = [gres_conf_never_ends_slurmctld]
