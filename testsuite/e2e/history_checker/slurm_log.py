# SPDX-License-Identifier: GPL-2.0-or-later
"""What Slurm itself reports about its jobs, from three sources that do not depend on the agent:

    slurmctld's log (LogTimeFormat=rfc5424_ms) has each start with its node and each end, in
    milliseconds, also of jobs that a killed slurmctld forgot; jobcomp/filetxt has each end with
    state and exit code; scontrol, called again and again, shows the marker, which names the pod of
    a job.
A job number may be used again after slurmctld was killed, so a job is a list of lives, one for each
start.
"""
import re
from bisect import bisect_right
from dataclasses import dataclass, field

from records.slurm import log_lines
from records.times import seconds_or_zero

_START = (
    re.compile(r"_slurm_rpc_allocate_resources JobId=(\d+) NodeList=(?!\(null\))(\S+)"),
    re.compile(r"Allocate JobId=(\d+) NodeList=(\S+) #CPUs"),
    re.compile(r"Started JobId=(\d+) in \S+ on (\S+)"),
)
_END = (
    re.compile(r"_job_complete: JobId=(\d+) done"),
    re.compile(r"job_signal: 9 of \S+ JobId=(\d+) successful"),
    re.compile(r"Killing JobId=(\d+) on "),
    re.compile(r"Time limit exhausted for JobId=(\d+)"),
    re.compile(r"killing JobId=(\d+)"),
)
_KILL = re.compile(r"REQUEST_KILL_JOB JobId=(\d+) uid (\d+)")
_NEW = re.compile(r"slurmctld version \S+ started on cluster")
_ANY = re.compile(r"JobId=(\d+)")
_PAIR = re.compile(r"(\w+)=(.*?)(?=\s+\w+=|\s*$)")


LATE_LINE = 1.5  # seconds


def _counted(inside):
    """The numbers of "0,2-3", with their leading zeros."""
    for part in inside.split(","):
        first, _, last = part.partition("-")
        for number in range(int(first), int(last or first) + 1):
            yield str(number).zfill(len(first))


def nodes_of(text):
    """The names that "node-[0,2-3],other" stands for."""
    names = set()
    for prefix, inside in re.findall(r"([^,\[]+)(?:\[([^\]]*)\])?", text):
        names |= {prefix + n for n in _counted(inside)} if inside else {prefix}
    return names


@dataclass
class Life:
    """From a start to an end. end is None while the life continues, or if slurmctld forgot the job
    before its end. node: the nodes as Slurm lists them.
    """

    job: int
    node: str
    start: float
    end: float = None
    epoch: int = 0


@dataclass
class JobEnd:
    """A line of jobcomp or of sacct, with times in whole seconds."""

    job: int
    state: str
    exit_code: str
    start: float
    end: float
    node: str
    cpus: int
    name: str = ""
    submit: float = 0.0


UNNAMED = "allocation"


@dataclass
class SlurmTruth:
    lives: dict = field(default_factory=dict)  # job -> [Life], in order of start
    kills: dict = field(default_factory=dict)  # job -> [(when, user id)]
    said: dict = field(default_factory=dict)  # job -> [(when, line)]
    ends: dict = field(default_factory=dict)  # job -> [JobEnd]
    accounts: dict = None  # job -> [JobEnd] of the database, those that go on too; None without one
    restarts: list = field(default_factory=list)  # when slurmctld came up
    shown: dict = field(
        default_factory=dict
    )  # (job, submit time) -> {field: text}, as scontrol showed it last
    uids: dict = field(default_factory=dict)  # pod uid -> {job}

    def read_log(self, path):
        for when, text in log_lines(path):
            if "JobId=" in text or "started on" in text:
                self.line(when, text)

    def line(self, when, text):
        """One line of slurmctld's log."""
        if _NEW.search(text):
            self.restarts.append(when)
        for job in {int(n) for n in _ANY.findall(text)}:
            self.said.setdefault(job, []).append((when, text))
        for pattern in _START:
            if found := pattern.search(text):
                self._started(int(found.group(1)), found.group(2), when)
        if found := _KILL.search(text):
            self.kills.setdefault(int(found.group(1)), []).append((when, int(found.group(2))))
        for pattern in _END:
            if found := pattern.search(text):
                self._ended(int(found.group(1)), when)

    def _started(self, job, node, when):
        lives, epoch = self.lives.setdefault(job, []), len(self.restarts)
        last = lives[-1] if lives else None
        if last and last.end is None and last.node == node and last.epoch == epoch:
            return  # the scheduler and the RPC both log the start
        lives.append(Life(job, node, when, None, epoch))

    def _ended(self, job, when):
        """A life restored from an older state ends a second time; the last end counts."""
        lives = self.lives.get(job)
        if lives and (lives[-1].end is None or lives[-1].epoch < len(self.restarts)):
            lives[-1].end = when

    def read_ends(self, path):
        """Reads jobcomp/filetxt; its times have no zone, so they are this machine's."""
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                if line.startswith("JobId="):
                    self.end_line(dict(_PAIR.findall(line)))

    def end_line(self, fields):
        job = int(fields["JobId"])
        self.ends.setdefault(job, []).append(
            JobEnd(
                job,
                fields["JobState"].split()[0],
                fields.get("ExitCode", ""),
                seconds_or_zero(fields.get("StartTime")),
                seconds_or_zero(fields.get("EndTime")),
                fields.get("NodeList", ""),
                int(fields.get("ProcCnt", "0")),
                fields.get("Name", ""),
            )
        )

    def account(self, rows):
        """Replaces the records by all of sacct's rows. Exit codes are as sacct prints them.
        slurmdbd names a job "allocation" if it heard of its end before its beginning, which
        slurmctld may send seconds later (as_mysql_job.c, _set_db_inx_thread() of
        accounting_storage/slurmdbd): that name is therefore ignored.
        """
        self.accounts = {}
        for r in rows:
            job = int(r["JobID"])
            self.accounts.setdefault(job, []).append(
                JobEnd(
                    job,
                    r["State"],
                    r["ExitCode"],
                    seconds_or_zero(r["Start"]),
                    seconds_or_zero(r["End"]),
                    r["NodeList"],
                    0,
                    "" if r["JobName"] == UNNAMED else r["JobName"],
                    seconds_or_zero(r["Submit"]),
                )
            )

    def picture(self, jobs):
        """Records the output of scontrol show job; jobs: {number: fields}."""
        for number, fields in jobs.items():
            self.shown[number, fields.get("SubmitTime")] = fields
            if marker := re.search(r'"uid":"([^"]+)"', fields.get("AdminComment", "")):
                self.uids.setdefault(marker.group(1), set()).add(number)

    def life_at(self, job, node, when, slack):
        """The last life of a job on that node that began before when. If there is none, the first
        one after it, because a busy slurmctld writes its line late.
        """
        lives = [
            x
            for x in self.lives.get(job, [])
            if node in nodes_of(x.node) and x.start <= when + LATE_LINE
        ]
        begun = [x for x in lives if x.start <= when + slack]
        return begun[-1] if begun else lives[0] if lives else None

    def epoch(self, when):
        return bisect_right(self.restarts, when)
